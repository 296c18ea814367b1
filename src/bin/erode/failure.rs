//! Why the program ends without success.

use core::fmt;
use std::process::ExitCode;

/// What went wrong, naming the file or option.
#[derive(Debug)]
pub enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// A file, the system or the erosion failed.
    Failed(String),
}

impl Failure {
    pub fn usage(reason: impl fmt::Display) -> Self {
        Self::Usage(reason.to_string())
    }

    pub fn failed(reason: impl fmt::Display) -> Self {
        Self::Failed(reason.to_string())
    }

    /// 2 as with the options that the parser itself refuses, 1 otherwise.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Failed(_) => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(reason) | Self::Failed(reason) => f.write_str(reason),
        }
    }
}
