//! Embeds the built pages and the window's permissions.

fn main() {
    tauri_build::build();
}
