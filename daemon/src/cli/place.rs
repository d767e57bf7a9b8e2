//! Where a command finds the configuration and the data: every command in the same way, wherever in it that is said.

use crate::config::{Config, ConfigError};
use crate::logging::note;
use crate::store::DataDir;
use clap::Args;
use std::path::{Path, PathBuf};

/// `--data` and `--config`, which every command has.
#[derive(Clone, Debug, Args)]
pub(super) struct Place {
    /// Data directory [default: as the environment or the configuration says, else modiar-data]
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Configuration file [default: modiar.toml, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Place {
    /// Whether the command line names it.
    pub(super) const fn is_named(&self) -> bool {
        self.data.is_some() || self.config.is_some()
    }

    /// The configuration of the file and the environment, with `--data` laid over it; [`Config::check`] is still due.
    pub(super) fn configuration(&self) -> Result<Config, ConfigError> {
        let mut config = Config::load(
            self.file(),
            std::env::vars_os().map(|(key, value)| (key.to_string_lossy().into(), value.to_string_lossy().into())),
        )?;
        if let Some(data) = &self.data {
            config.data.clone_from(data);
        }
        Ok(config)
    }

    /// The configuration file, where there is one.
    pub(super) fn file(&self) -> Option<&Path> {
        let usual = Path::new("modiar.toml");
        // One that this user may not look for is not passed by: to read it tells why.
        self.config.as_deref().or_else(|| usual.try_exists().unwrap_or(true).then_some(usual))
    }

    /// The same place from now on: a file that was there must be there, and be one, whenever it is read again.
    pub(super) fn fixed(self) -> Self {
        Self { config: self.file().map(Path::to_path_buf), data: self.data }
    }

    /// Whether the file can be read again without waiting for somebody to write it.
    ///
    /// # Errors
    /// It is a pipe or a device.
    pub(super) fn check_file(&self) -> Result<(), ConfigError> {
        match self.config.as_deref() {
            Some(path) if std::fs::metadata(path).is_ok_and(|file| !file.is_file()) => Err(ConfigError::Value(
                format!("{}: it is no regular file; name one, or start the daemon again", path.display()),
            )),
            _ => Ok(()),
        }
    }

    /// The data directory, named on stderr.
    pub(super) fn data(&self) -> Result<DataDir, ConfigError> {
        let data = self.unnamed_data()?;
        note(&format!("the data directory is {data}"));
        Ok(data)
    }

    /// The data directory of a command that only its table makes faster: one that cannot be found is done without.
    pub(super) fn helpful_data(&self) -> DataDir {
        self.unnamed_data().unwrap_or_else(|_| DataDir::new(Config::default().data))
    }

    fn unnamed_data(&self) -> Result<DataDir, ConfigError> {
        if let Some(data) = &self.data {
            // Whoever names it needs no configuration that can be used.
            return Ok(DataDir::new(data));
        }
        let config = self.configuration()?;
        config.check()?;
        Ok(DataDir::new(config.data))
    }
}
