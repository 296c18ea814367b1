//! `erode`: ages heightmaps from the command line, without a window, a graphics
//! adapter or an app.

mod args;
mod failure;
mod generate;
mod info;
mod input;
mod interrupt;
mod job;
mod models;
mod output;
mod passes;
mod preview;
mod progress;
mod report;
mod rivers;
mod scenes;
mod settings;
mod strength;

use args::{Command, Invocation};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let invocation = Invocation::parse();
    interrupt::listen();
    match run(invocation) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            failure.exit_code()
        }
    }
}

fn run(invocation: Invocation) -> Result<(), Failure> {
    match invocation {
        Invocation::Bake(args) => job::bake(*args),
        Invocation::Other(Command::Generate(args)) => generate::run(*args),
        Invocation::Other(Command::Info(args)) => info::run(&args),
        Invocation::Other(Command::Rivers(args)) => rivers::run(&args),
        Invocation::Other(Command::Settings(args)) => settings::run(&args),
        Invocation::Other(Command::Scenes(args)) => scenes::run(&args),
    }
}
