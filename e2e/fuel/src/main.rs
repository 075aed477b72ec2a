//! Counts what one full round costs in Wasm: `fuel MODULE.wasm jobs=N quotas=M`, or `bids=N offers=M`, prints the units
//! that it used up.
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
    let [module, count, among] = arguments else { return Err("write fuel MODULE.wasm jobs=N quotas=M".into()) };
    let (what, count) = count.split_once('=').ok_or("the first size is written jobs=N or bids=N")?;
    let (_, among) = among.split_once('=').ok_or("the second size is written quotas=M or offers=M")?;
    let (count, among): (u32, u32) = (count.parse()?, among.parse()?);
    let (mut store, instance) = instance(&std::fs::read(module)?)?;
    let prepare = instance.get_typed_func::<(u32, u32), u32>(&store, &format!("prepare_{what}"))?;
    if prepare.call(&mut store, (count, among))? == 0 {
        return Err(format!("no cluster of {count} {what} can be built").into());
    }
    store.set_fuel(TANK)?;
    let events = instance.get_typed_func::<(), u32>(&store, "round")?.call(&mut store, ())?;
    if events == 0 {
        return Err("the round decided nothing, so it says nothing about growth".into());
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
