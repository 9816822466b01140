//! The desktop window: starts the engine, forwards commands to it and its events to the frontend.
//!
//! It contains no application logic: every command passes through [`ipc`] to the engine, the program `autokit` in a process
//! of its own ([`engine`]).

// No console window beside the real one on Windows.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod engine;
mod ipc;
mod library;
mod links;
mod notifications;
mod options;
mod quick;
mod settings;
mod tray;
mod updates;

use clap::Parser;
use engine::Engine;
use settings::Desktop;
use tauri::{Manager, RunEvent, WindowEvent};
use tauri_plugin_window_state::StateFlags;

// Unifies the features of dependencies across the workspace; it exports nothing.
use workspace_hack as _;

/// Label of the main window.
const MAIN: &str = "main";

fn main() -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    options::run_terminal_if_asked()?;
    let options = options::Options::parse();
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("AUTOKIT_LOG")
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error")),
        )
        .with_writer(std::io::stderr)
        .init();

    let desktop = Desktop::load();
    let team = desktop.team(&options.data_dir());
    // Before the window system, whose start leaves all cores but one idle. A second instance, which exits, starts one as
    // well; it ends with its input.
    let started = Engine::start(options.engine(team.as_deref())?);

    let mut builder = tauri::Builder::default();
    if options.is_own_library() {
        // Registered first, so that a second instance exits before its window is made.
        builder = builder.plugin(links::single_instance());
        // Not of windows on other libraries, which would all have the place and size of this one.
        let state = tauri_plugin_window_state::Builder::new()
            .with_state_flags(StateFlags::all() - StateFlags::VISIBLE)
            .with_filter(|label| label == MAIN);
        builder = builder.plugin(state.build());
    }
    let app = builder
        .plugin(tauri_plugin_autostart::Builder::new().arg("--hidden").build())
        .plugin(tauri_plugin_deep_link::init())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_global_shortcut::Builder::new().build())
        .plugin(tauri_plugin_opener::init())
        .plugin(tauri_plugin_updater::Builder::new().build())
        .invoke_handler(tauri::generate_handler![
            ipc::call,
            ipc::engine_start,
            ipc::save_text,
            library::library_get,
            library::library_open,
            links::take_links,
            quick::quick_ask_done,
            settings::desktop_get,
            settings::desktop_set,
            tray::close_window,
            tray::quit,
            updates::updates_check,
            updates::updates_download,
            updates::updates_install
        ])
        .setup(move |app| {
            links::handle_links(app.handle(), &options.links);
            let shortcut = desktop.settings().quick_ask;
            app.manage(desktop);
            app.manage(updates::Pending::default());
            app.manage(updates::Restart::default());
            app.manage(options.clone());
            // The window shows at once; commands wait for the library in the engine.
            ipc::connect(app.handle(), started);
            tray::build(app.handle())?;
            if let Err(error) = quick::register(app.handle(), &shortcut) {
                tracing::error!(%error, "failed to register the shortcut of quick ask");
            }
            if !options.hidden {
                tray::show_window(app.handle());
            }
            Ok(())
        })
        .on_window_event(|window, event| {
            if let WindowEvent::CloseRequested { api, .. } = event
                && window.label() == MAIN
            {
                if window.state::<Desktop>().settings().close_to_tray {
                    api.prevent_close();
                    if let Err(error) = window.hide() {
                        tracing::warn!(%error, "failed to hide the window");
                    }
                } else {
                    // A hidden quick-ask window would keep the process running.
                    window.app_handle().exit(0);
                }
            }
        })
        .build(tauri::generate_context!())?;
    app.run(|handle, event| {
        if let RunEvent::Exit = event {
            tauri::async_runtime::block_on(handle.state::<Engine>().close());
            updates::restart_if_asked(handle);
        }
    });
    Ok(())
}
