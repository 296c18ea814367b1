//! Window, offscreen rendering or hillshade by the CPU: what this machine can do.

use std::{
    env,
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

use bevy::prelude::*;

use super::Options;

/// How an example shows its terrain.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In a window, live.
    Window,
    /// Screenshots of the same scene, rendered without a window.
    Offscreen,
    /// No graphics adapter: hillshade pictures drawn by the CPU.
    Hillshade,
}

impl Mode {
    /// The best mode for this machine, and a description of it with the reason.
    pub fn choose(options: &Options) -> (Self, String) {
        let why_headless = if options.headless {
            Some("--headless".to_owned())
        } else {
            no_display()
        };
        match (why_headless, adapter()) {
            (None, Some(adapter)) => (Self::Window, format!("window, rendered by {adapter}")),
            (None, None) => (
                Self::Hillshade,
                "hillshade pictures by the CPU (no graphics adapter)".into(),
            ),
            (Some(why), Some(adapter)) => (
                Self::Offscreen,
                format!("offscreen screenshots ({why}), rendered by {adapter}"),
            ),
            (Some(why), None) => (
                Self::Hillshade,
                format!("hillshade pictures by the CPU ({why}, no graphics adapter)"),
            ),
        }
    }

    /// Whether anything is drawn by Bevy.
    pub fn renders(self) -> bool {
        self != Self::Hillshade
    }
}

/// The name of the graphics adapter that Bevy would take, if there is any.
fn adapter() -> Option<String> {
    let mut settings = wgpu::InstanceDescriptor::new_without_display_handle();
    settings.backends = wgpu::Backends::from_env().unwrap_or(wgpu::Backends::all());
    let instance = wgpu::Instance::new(settings);
    let adapter = bevy::tasks::block_on(instance.request_adapter(&default())).ok()?;
    Some(adapter.get_info().name)
}

/// Why no window can be opened, if so. The examples use X11 on Linux.
fn no_display() -> Option<String> {
    if cfg!(any(target_os = "windows", target_os = "macos")) {
        return None;
    }
    match env::var("DISPLAY") {
        Ok(display) if !display.is_empty() => {
            (!x_server_answers(&display)).then(|| format!("no X server at DISPLAY={display}"))
        }
        _ => Some("no display".into()),
    }
}

/// Tries to connect to `[host]:number[.screen]`: opening a window panics if it fails.
fn x_server_answers(display: &str) -> bool {
    let Some((host, number)) = display.rsplit_once(':') else {
        return false;
    };
    let Ok(number) = number.split('.').next().unwrap_or_default().parse::<u16>() else {
        return false;
    };
    if host.is_empty() || host == "unix" {
        return local_x_server_answers(number);
    }
    let Some(port) = number.checked_add(6000) else {
        return false;
    };
    let timeout = Duration::from_secs(2);
    (host, port).to_socket_addrs().is_ok_and(|mut addresses| {
        addresses.any(|address| TcpStream::connect_timeout(&address, timeout).is_ok())
    })
}

#[cfg(target_os = "linux")]
fn local_x_server_answers(number: u16) -> bool {
    use std::os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixStream},
    };
    let path = format!("/tmp/.X11-unix/X{number}");
    UnixStream::connect(&path).is_ok()
        || SocketAddr::from_abstract_name(&path)
            .is_ok_and(|address| UnixStream::connect_addr(&address).is_ok())
}

#[cfg(not(target_os = "linux"))]
fn local_x_server_answers(_number: u16) -> bool {
    true
}
