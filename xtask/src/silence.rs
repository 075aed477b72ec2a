//! Panics without words, for a module whose panics nobody hears: what they would say is a twentieth of it; and rules
//! that nobody asks it for.
//!
//! A panic stops the module all the same, where it is and before anything else happens. With the words goes what writes
//! values as programmers see them: a test keeps `{:?}` out of what people read.
use crate::process::Failure;
use std::path::{Path, PathBuf};
use walrus::ir::Value;
use walrus::{ConstExpr, Data, DataId, DataKind, FunctionBuilder, FunctionId, FunctionKind, Module};

/// What the functions that tell of a panic, or write what is told, have in their names.
const TELLERS: [&str; 10] = [
    "5Debug3fmt",
    "core9panicking",
    "std9panicking",
    "unwrap_failed",
    "expect_failed",
    "assert_failed",
    "slice_index_fail",
    "slice_error_fail",
    "len_mismatch_fail",
    "7raw_vec12handle_error",
];

/// What the engine's functions have in their names that decide what no line of a scenario asks for: who people are and
/// what they may, and what takes quotas and offers away. Whoever comes there stops as at a panic; that no scenario does is
/// seen when the documentation plays them all.
const UNASKED: [&str; 6] = [
    "10transition9workspace",
    "10transition3key",
    "workspace..may..Denied$u20$as",
    "10transition5quota6delete",
    "10transition6market6update",
    "10transition6market6delete",
];

/// Bytes of a word of the module's memory.
const WORD: usize = 4;
/// Bytes of a place in the sources: where the file's name stands, its length, line and column.
const PLACE_LEN: usize = 4 * WORD;
/// No file of the sources has more lines.
const LINES_MAX: usize = 20_000;

/// Writes the module without words beside it; where.
pub(crate) fn silence(path: &Path) -> Result<PathBuf, Failure> {
    silence_those(path, &[&TELLERS[..], &UNASKED].concat())
}

/// The same, of functions with one of these in their names. A name that no function has any more is refused: what it
/// stood for is called otherwise now, and would stay in the module without a word.
fn silence_those(path: &Path, names: &[&str]) -> Result<PathBuf, Failure> {
    let failure = |error| Failure::new(format!("{}: {error:#}", path.display()), "build it again");
    let mut module = Module::from_file(path).map_err(failure)?;
    if let Some(gone) = names.iter().find(|part| !named(&module).any(|name| name.contains(**part))) {
        let problem = format!("{}: no function has `{gone}` in its name", path.display());
        return Err(Failure::new(
            problem,
            "find what it is called now, and correct or drop it in xtask/src/silence.rs",
        ));
    }
    let is_needless = |name: &str| names.iter().any(|part| name.contains(part));
    let needless: Vec<FunctionId> =
        module.funcs.iter().filter(|f| f.name.as_deref().is_some_and(is_needless)).map(walrus::Function::id).collect();
    for id in needless {
        stop(&mut module, id);
    }
    walrus::passes::gc::run(&mut module);
    forget_places(&mut module);
    let silent = path.with_extension("silent.wasm");
    module.emit_wasm_file(&silent).map_err(failure)?;
    Ok(silent)
}

fn named(module: &Module) -> impl Iterator<Item = &str> {
    module.funcs.iter().filter_map(|function| function.name.as_deref())
}

/// Makes a function stop the module and do nothing else.
fn stop(module: &mut Module, id: FunctionId) {
    let (params, results) = module.types.params_results(module.funcs.get(id).ty());
    let (params, results) = (params.to_vec(), results.to_vec());
    let mut body = FunctionBuilder::new(&mut module.types, &params, &results);
    body.func_body().unreachable();
    let arguments = params.iter().map(|of| module.locals.add(*of)).collect();
    module.funcs.get_mut(id).kind = FunctionKind::Local(body.local_func(arguments));
}

/// Blanks the places in the sources that panics would have named.
fn forget_places(module: &mut Module) {
    let parts: Vec<(usize, &[u8])> =
        module.data.iter().filter_map(|data| Some((begin(data)?, &data.value[..]))).collect();
    let text = |at: usize, len: usize| {
        let (begin, bytes) = parts.iter().find(|(begin, bytes)| (*begin..begin + bytes.len()).contains(&at))?;
        bytes.get(at - begin..)?.get(..len)
    };
    let mut forgotten: Vec<(usize, usize)> = Vec::new();
    for (begin, bytes) in &parts {
        let first = begin.next_multiple_of(WORD) - begin;
        for (at, place) in bytes.windows(PLACE_LEN).enumerate().skip(first).step_by(WORD) {
            let word =
                |at: usize| place[at * WORD..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word) as usize);
            let (name, len, line) = (word(0), word(1), word(2));
            if line < LINES_MAX && text(name, len).is_some_and(|name| name.ends_with(b".rs")) {
                forgotten.extend([(begin + at, PLACE_LEN), (name, len)]);
            }
        }
    }
    let all: Vec<DataId> = module.data.iter().map(Data::id).collect();
    for id in all {
        let data = module.data.get_mut(id);
        let Some(begin) = begin(data) else { continue };
        for (at, len) in &forgotten {
            if let Some(bytes) = at.checked_sub(begin).and_then(|at| data.value.get_mut(at..at + len)) {
                bytes.fill(0);
            }
        }
    }
}

/// Where in memory it begins.
fn begin(data: &Data) -> Option<usize> {
    match data.kind {
        DataKind::Active { offset: ConstExpr::Value(Value::I32(begin)), .. } => usize::try_from(begin).ok(),
        DataKind::Active { .. } | DataKind::Passive => None,
    }
}

#[cfg(test)]
mod tests {
    use super::silence_those;
    use walrus::ir::Value;
    use walrus::{ConstExpr, DataKind, FunctionBuilder, Module};

    #[test]
    fn what_a_panic_would_say_and_what_nobody_asks_is_gone_and_the_rest_is_there() {
        let mut module = Module::default();
        let memory = module.memories.add_local(false, false, 1, None, None);
        let mut text = b"src/a.rsa word".to_vec();
        text.resize(16, 0);
        text.extend([64_u32, 8, 12, 5].into_iter().flat_map(u32::to_le_bytes));
        let offset = ConstExpr::Value(Value::I32(64));
        module.data.add(DataKind::Active { memory, offset }, text);
        let mut teller = FunctionBuilder::new(&mut module.types, &[], &[]);
        teller.name("_ZN4core9panicking5panic17h0E".to_owned()).func_body().i32_const(64).drop().unreachable();
        let teller = teller.finish(Vec::new(), &mut module.funcs);
        let mut unasked = FunctionBuilder::new(&mut module.types, &[], &[]);
        unasked.name("_ZN6engine10transition3key6rotate17h0E".to_owned()).func_body().i32_const(1).drop();
        let unasked = unasked.finish(Vec::new(), &mut module.funcs);
        let mut caller = FunctionBuilder::new(&mut module.types, &[], &[]);
        caller.func_body().i32_const(7).drop().call(unasked).call(teller);
        let caller = caller.finish(Vec::new(), &mut module.funcs);
        module.exports.add("run", caller);
        module.exports.add("memory", memory);
        let path = std::env::temp_dir().join(format!("silence-{}.wasm", std::process::id()));
        module.emit_wasm_file(&path).unwrap();

        let silent = Module::from_file(silence_those(&path, &["core9panicking", "10transition3key"]).unwrap()).unwrap();
        let mut sizes: Vec<u64> = silent.funcs.iter_local().map(|(_, function)| function.size()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [1, 1, 4]);
        let mut left = vec![0; 32];
        left[8..14].copy_from_slice(b"a word");
        assert_eq!(silent.data.iter().next().unwrap().value, left);
    }
    #[test]
    fn a_name_that_no_function_has_any_more_is_told() {
        let mut module = Module::default();
        let mut teller = FunctionBuilder::new(&mut module.types, &[], &[]);
        teller.name("_ZN4core9panicking5panic17h0E".to_owned()).func_body().unreachable();
        let teller = teller.finish(Vec::new(), &mut module.funcs);
        module.exports.add("run", teller);
        let path = std::env::temp_dir().join(format!("silence-gone-{}.wasm", std::process::id()));
        module.emit_wasm_file(&path).unwrap();

        silence_those(&path, &["core9panicking"]).unwrap();
        let refused = silence_those(&path, &["core9panicking", "10transition3key"]).unwrap_err();
        assert!(refused.to_string().contains("`10transition3key`"), "{refused}");
    }
}
