//! The desktop window: opens the library, forwards commands to the engine and its events to the frontend.
//!
//! It contains no application logic: every command passes through [`ipc`] to the engine.

// No console window beside the real one on Windows.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod ipc;
mod links;
mod options;
mod tray;

use std::process::ExitCode;

use autokit_app::node::Node;
use clap::Parser;
use tauri::{Manager, RunEvent};

// Unifies the features of dependencies across the workspace; it exports nothing.
use workspace_hack as _;

fn main() -> anyhow::Result<ExitCode> {
    if let Some(exit) = autokit_app::read_document_if_asked() {
        return Ok(exit);
    }
    let options = options::Options::parse();
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("AUTOKIT_LOG")
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("error,surrealdb=off,surrealkv=off")),
        )
        .with_writer(std::io::stderr)
        .init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // The database's query executor nests deeply.
        .thread_stack_size(8 << 20)
        .build()?;
    tauri::async_runtime::set(runtime.handle().clone());

    let mut builder = tauri::Builder::default();
    if options.is_own_library() {
        // Registered first, so that a second instance exits before it does anything else.
        builder = builder.plugin(links::single_instance());
    }
    let app = builder
        .plugin(tauri_plugin_deep_link::init())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_opener::init())
        .invoke_handler(tauri::generate_handler![ipc::call, ipc::save_text, links::take_link])
        .setup(move |app| {
            links::handle_links(app.handle(), options.link.clone());
            // The window shows at once; commands wait for the library in `ipc`.
            app.manage(ipc::Connection::open(app.handle().clone(), options.node()));
            tray::build(app.handle())?;
            Ok(())
        })
        .build(tauri::generate_context!())?;
    app.run(|handle, event| {
        if let RunEvent::Exit = event {
            let node: Option<Node> = handle.state::<ipc::Connection>().take();
            if let Some(node) = node
                && let Err(error) = tauri::async_runtime::block_on(node.close())
            {
                tracing::error!(%error, "failed to close the library");
            }
        }
    });
    Ok(ExitCode::SUCCESS)
}
