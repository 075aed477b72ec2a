//! Counts what a function costs in Wasm: `fuel MODULE.wasm PREPARE A B CALL` calls `PREPARE(A, B)`, then `CALL()`, and
//! prints the units that the latter used up. Each tells 0 if it did not do what it should.
//!
//! A unit is about one instruction; the same module uses up the same number on every machine.

use std::error::Error;
use std::process::ExitCode;

use wasmi::Config;
use wasmi::Engine;
use wasmi::Instance;
use wasmi::Linker;
use wasmi::Module;
use wasmi::Store;

/// More than any round uses.
const TANK: u64 = u64::MAX / 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(used) => {
            println!("{used}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("fuel: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<u64, Box<dyn Error>> {
    let [module, prepare, first, second, call] = arguments else {
        return Err("write fuel MODULE.wasm PREPARE A B CALL".into());
    };
    let numbers: (u32, u32) = (first.parse()?, second.parse()?);
    let (mut store, instance) = instance(&std::fs::read(module)?)?;
    if instance.get_typed_func::<(u32, u32), u32>(&store, prepare)?.call(&mut store, numbers)? == 0 {
        return Err(format!("{prepare}({first}, {second}) prepares nothing").into());
    }
    store.set_fuel(TANK)?;
    if instance.get_typed_func::<(), u32>(&store, call)?.call(&mut store, ())? == 0 {
        return Err(format!("{call}() did nothing, so its cost says nothing").into());
    }
    Ok(TANK - store.get_fuel()?)
}

fn instance(module: &[u8]) -> Result<(Store<()>, Instance), wasmi::Error> {
    let mut config = Config::default();
    config.consume_fuel(true);
    let engine = Engine::new(&config);
    let module = Module::new(&engine, module)?;
    let mut store = Store::new(&engine, ());
    store.set_fuel(TANK)?;
    let mut linker = Linker::new(&engine);
    // Nothing is timed here.
    linker.func_wrap("host", "now_us", || 0.0_f64)?;
    let instance = linker.instantiate_and_start(&mut store, &module)?;
    Ok((store, instance))
}
