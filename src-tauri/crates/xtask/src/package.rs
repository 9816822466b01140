//! `cargo xtask package`: a release as installers of this system, made by Tauri's bundler. On Linux nothing is downloaded but
//! npm packages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use crate::setup;
use crate::shell::{binary, command, exec, print_line, read, root, step, target};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Package the programs of the dev profile, to look at the packages without waiting for a release build.
    #[arg(long)]
    debug: bool,
    /// Also make what downloads tools first: the AppImage.
    #[arg(long)]
    all: bool,
    /// Copy the packages into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A file of the packages besides the window: where it is built, and where it is installed.
struct Installed {
    built: PathBuf,
    /// Absolute path on the machine where it is installed.
    to: String,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let release = !options.debug;
    setup::system_packages(false)?;
    setup::ui_packages()?;
    setup::build_ui()?;
    step("Programs", "See the compiler's messages above.", || setup::build_programs(release))?;
    let folder = target().join("package");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let stage = target().join("package-stage");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    fs::create_dir_all(&stage)?;
    let files = if cfg!(target_os = "linux") {
        step("Manual pages and completions", "Run the command named below by hand.", || {
            staged_files(&stage, release)
        })?
    } else {
        Vec::new()
    };
    fs::create_dir_all(&folder)?;
    step("Packages", "See the messages of Tauri's bundler and dpkg-deb above.", || {
        bundle(&folder, &stage, &files, options)
    })?;
    if cfg!(target_os = "linux") {
        step("Tarball", "See the message of tar above.", || tarball(&folder, &stage, &files, release))?;
    }
    let mut packages: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    packages.sort();
    if let Some(out) = &options.out {
        fs::create_dir_all(out)?;
    }
    for package in packages {
        if let (Some(out), Some(name)) = (&options.out, package.file_name()) {
            fs::copy(&package, out.join(name))?;
        }
        let size = fs::metadata(&package)?.len() as f64 / 1e6;
        print_line(&format!("{size:6.1} MB  {}", package.display()));
    }
    Ok(())
}

/// Builds what the packages for Linux contain besides the window.
fn staged_files(stage: &Path, release: bool) -> Result<Vec<Installed>> {
    let cli = binary("autokit", release);
    let mut files = vec![Installed { built: cli.clone(), to: "/usr/bin/autokit".to_owned() }];
    let completions = [
        ("bash", "/usr/share/bash-completion/completions/autokit"),
        ("zsh", "/usr/share/zsh/vendor-completions/_autokit"),
        ("fish", "/usr/share/fish/vendor_completions.d/autokit.fish"),
    ];
    for (shell, to) in completions {
        let built = stage.join(format!("autokit.{shell}"));
        fs::write(&built, read(command(&cli).args(["completions", shell]))?)?;
        files.push(Installed { built, to: to.to_owned() });
    }
    let manual = stage.join("man");
    fs::create_dir_all(&manual)?;
    exec(command(&cli).arg("man").arg(&manual))?;
    fs::copy(root().join("src-tauri/packaging/autokit-desktop.1"), manual.join("autokit-desktop.1"))?;
    // Without a time, so that the same pages make the same package.
    exec(command("gzip").args(["-9", "--no-name", "--recursive"]).arg(&manual))?;
    let mut pages: Vec<PathBuf> =
        fs::read_dir(&manual)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    pages.sort();
    for built in pages {
        let name = built.file_name().context("a file has a name")?.to_string_lossy().into_owned();
        files.push(Installed { built, to: format!("/usr/share/man/man1/{name}") });
    }
    files.push(Installed {
        built: root().join("src-tauri/packaging/autokit.xml"),
        to: "/usr/share/mime/packages/autokit.xml".to_owned(),
    });
    Ok(files)
}

/// Makes the packages of this system and copies them into a folder.
fn bundle(folder: &Path, stage: &Path, files: &[Installed], options: &Options) -> Result<()> {
    let installed: Map<String, Value> =
        files.iter().map(|file| (file.to.clone(), Value::from(file.built.display().to_string()))).collect();
    let config = stage.join("tauri.json");
    // The usual entry passes neither links nor files to the program.
    let entry = root().join("src-tauri/packaging/autokit.desktop").display().to_string();
    let mut with_copyright = installed.clone();
    let licence = root().join("LICENSE").display().to_string();
    with_copyright.insert("/usr/share/doc/autokit/copyright".to_owned(), licence.into());
    let linux = json!({
        // The tray's library is loaded by name, so no tool can see that it is needed.
        "deb": {
            "files": with_copyright,
            "desktopTemplate": entry,
            "section": "devel",
            "depends": ["libc6", "libayatana-appindicator3-1"],
            "recommends": ["bubblewrap"],
        },
        "rpm": {
            "files": installed,
            "desktopTemplate": entry,
            "depends": ["libayatana-appindicator-gtk3"],
            "recommends": ["bubblewrap"],
            "compression": { "type": "xz", "level": 9 },
        },
        "appimage": { "files": installed },
    });
    let mut overrides = json!({ "bundle": { "linux": linux } });
    if !cfg!(target_os = "linux") {
        // Beside the window's program, which starts it as its engine.
        let cli = stage.join(format!("autokit-{}{}", host()?, std::env::consts::EXE_SUFFIX));
        fs::copy(binary("autokit", !options.debug), cli)?;
        overrides["bundle"]["externalBin"] = json!([stage.join("autokit")]);
    }
    if cfg!(target_os = "linux") {
        // Packages are named after it, which have lower-case names.
        overrides["productName"] = "autokit".into();
    }
    fs::write(&config, overrides.to_string())?;
    let kinds = if cfg!(target_os = "macos") {
        "app,dmg"
    } else if cfg!(windows) {
        "nsis"
    } else if options.all {
        "deb,rpm,appimage"
    } else {
        "deb,rpm"
    };
    let tauri = root().join("ui/node_modules/@tauri-apps/cli/tauri.js");
    let mut bundler = command("node");
    bundler.arg(tauri).current_dir(root().join("src-tauri")).env("CARGO_TARGET_DIR", target());
    // The bundler does not understand the `1` that others set.
    bundler.env("CI", "true");
    bundler.args(["bundle", "--bundles", kinds, "--config"]).arg(&config);
    if options.debug {
        bundler.arg("--debug");
    }
    let made = target().join(if options.debug { "debug" } else { "release" }).join("bundle");
    if made.exists() {
        // Packages of earlier versions would be taken for this one's.
        fs::remove_dir_all(&made)?;
    }
    exec(&mut bundler)?;
    let mut count = 0;
    for kind in fs::read_dir(&made)? {
        for entry in fs::read_dir(kind?.path())? {
            let path = entry?.path();
            let name = path.file_name().context("a file has a name")?.to_string_lossy().into_owned();
            if path.extension().is_some_and(|end| end == "deb") {
                recompress_deb(&path, &folder.join(name), stage)?;
                count += 1;
            } else if path.is_file() && PACKAGES.iter().any(|(end, _)| name.ends_with(end)) {
                fs::copy(&path, folder.join(name))?;
                count += 1;
            } else if path.extension().is_some_and(|end| end == "app") {
                // What the updater installs on macOS.
                let archive = folder.join(format!("{name}.tar.gz"));
                exec(command("tar").arg("-C").arg(made.join("macos")).arg("-czf").arg(archive).arg(&name))?;
                count += 1;
            }
        }
    }
    if count == 0 {
        bail!("the bundler made no packages below {}", made.display());
    }
    Ok(())
}

/// Writes a package for Debian anew with xz: the bundler knows only gzip, which takes half as much space again.
fn recompress_deb(from: &Path, to: &Path, stage: &Path) -> Result<()> {
    let tree = stage.join("deb");
    exec(command("dpkg-deb").arg("--raw-extract").arg(from).arg(&tree))?;
    let xz = ["-Zxz", "-z9", "-Sextreme", "--root-owner-group", "--build"];
    exec(command("dpkg-deb").args(xz).arg(&tree).arg(to))
}

/// Returns the target triple of this machine, which the bundler expects in names of programs.
fn host() -> Result<String> {
    let printed = read(command("rustc").arg("-vV"))?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

/// Makes a tarball with `bin` and `share`, to be unpacked anywhere.
fn tarball(folder: &Path, stage: &Path, files: &[Installed], release: bool) -> Result<()> {
    let name = format!("autokit-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let tree = stage.join(&name);
    let window =
        Installed { built: binary("autokit-desktop", release), to: "/usr/bin/autokit-desktop".to_owned() };
    let licence =
        Installed { built: root().join("LICENSE"), to: "/usr/share/doc/autokit/LICENSE".to_owned() };
    for file in files.iter().chain([&window, &licence]) {
        let to = tree.join(file.to.trim_start_matches("/usr/"));
        fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
        fs::copy(&file.built, &to)?;
    }
    let archive = folder.join(format!("{name}.tar.xz"));
    exec(command("tar").env("XZ_OPT", "-9e").arg("-C").arg(stage).arg("-cJf").arg(&archive).arg(&name))
}

/// Version of what is packaged.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How the names of packages end, and what the updater calls a package of that kind, after system and processor; empty for
/// those it does not install.
const PACKAGES: &[(&str, &str)] = &[
    (".deb", "deb"),
    (".rpm", "rpm"),
    (".AppImage", "appimage"),
    (".app.tar.gz", "app"),
    ("-setup.exe", "nsis"),
    (".dmg", ""),
];

#[derive(clap::Args)]
pub(crate) struct ManifestOptions {
    /// Folder with the signed packages of all systems; the manifest is written into it.
    folder: PathBuf,
    /// Address of the folder from which the packages are downloaded.
    #[arg(long)]
    address: String,
}

#[derive(clap::Args)]
pub(crate) struct SignOptions {
    /// Folder with the packages of all systems; signatures are written into it.
    folder: PathBuf,
}

/// Signs packages for updates with the key in `TAURI_SIGNING_PRIVATE_KEY`. The signatures name this version, so that
/// none serves for another one.
pub(crate) fn sign(options: &SignOptions) -> Result<()> {
    let tauri = root().join("ui/node_modules/@tauri-apps/cli/tauri.js");
    let mut count = 0;
    for entry in fs::read_dir(&options.folder)? {
        let path = entry?.path();
        let name = path.file_name().context("a file has a name")?.to_string_lossy().into_owned();
        if platform_of(&name).is_some() {
            let version = ["--app-version", env!("CARGO_PKG_VERSION")];
            exec(command("node").arg(&tauri).args(["signer", "sign"]).args(version).arg(&path))?;
            count += 1;
        }
    }
    if count == 0 {
        bail!("there is no package in {}", options.folder.display());
    }
    Ok(())
}

/// Writes the manifest that the window reads to find updates.
pub(crate) fn write_manifest(options: &ManifestOptions) -> Result<()> {
    let mut names: Vec<String> = fs::read_dir(&options.folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    names.sort();
    let mut platforms = Map::new();
    for name in names.iter().filter_map(|name| name.strip_suffix(".sig")) {
        let platform =
            platform_of(name).with_context(|| format!("{name} is a package of no known system"))?;
        if version_of(name).is_some_and(|version| version != VERSION) {
            bail!("{name} is not of version {VERSION}: remove it from {}", options.folder.display());
        }
        let signature = fs::read_to_string(options.folder.join(format!("{name}.sig")))?;
        let url = format!("{}/{name}", options.address.trim_end_matches('/'));
        platforms.insert(platform, json!({ "signature": signature.trim(), "url": url }));
    }
    if platforms.is_empty() {
        bail!("there is no signed package in {}", options.folder.display());
    }
    let manifest = json!({ "version": VERSION, "platforms": platforms });
    fs::write(options.folder.join("latest.json"), serde_json::to_string_pretty(&manifest)?)?;
    Ok(())
}

/// Returns the version in the name of a package; those of macOS have none.
fn version_of(name: &str) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.split(['_', '-']).find(|part| part.split('.').count() == 3 && part.split('.').all(is_number))
}

/// Returns what the updater calls the kind of a package, e.g. `linux-x86_64-deb`.
fn platform_of(name: &str) -> Option<String> {
    let (_, kind) = PACKAGES.iter().find(|(end, kind)| name.ends_with(end) && !kind.is_empty())?;
    let system = match *kind {
        "app" => "darwin",
        "nsis" => "windows",
        _ => "linux",
    };
    let is_arm = name.contains("aarch64") || name.contains("arm64");
    // macOS programs are named without their processor: releases are built for Apple's own.
    let processor = if is_arm || system == "darwin" { "aarch64" } else { "x86_64" };
    Some(format!("{system}-{processor}-{kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(folder: &Path) -> ManifestOptions {
        ManifestOptions { folder: folder.to_owned(), address: format!("https://updates.example/v{VERSION}/") }
    }

    #[test]
    fn a_package_of_another_version_is_in_no_manifest() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = "AutoKit-0.0.1-1.x86_64.rpm";
        fs::write(folder.path().join(format!("{old}.sig")), "signed").expect("written");
        let error = write_manifest(&options(folder.path())).expect_err("an old package");
        assert!(error.to_string().contains(old), "{error}");
        assert!(!folder.path().join("latest.json").exists());
    }

    #[test]
    fn the_manifest_names_every_signed_package() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = [
            (format!("AutoKit_{VERSION}_amd64.deb"), "linux-x86_64-deb"),
            (format!("AutoKit-{VERSION}-1.x86_64.rpm"), "linux-x86_64-rpm"),
            (format!("AutoKit_{VERSION}_amd64.AppImage"), "linux-x86_64-appimage"),
            ("AutoKit.app.tar.gz".to_owned(), "darwin-aarch64-app"),
            (format!("AutoKit_{VERSION}_x64-setup.exe"), "windows-x86_64-nsis"),
        ];
        for (name, platform) in &names {
            fs::write(folder.path().join(name), "").expect("written");
            fs::write(folder.path().join(format!("{name}.sig")), format!("of {platform}\n"))
                .expect("written");
        }
        fs::write(folder.path().join("AutoKit_0.2.0_aarch64.dmg"), "").expect("written");
        write_manifest(&options(folder.path())).expect("a manifest");
        let read = fs::read_to_string(folder.path().join("latest.json")).expect("written");
        let manifest: Value = serde_json::from_str(&read).expect("JSON");
        let platforms = manifest["platforms"].as_object().expect("an object");
        assert_eq!(platforms.len(), names.len());
        for (name, platform) in &names {
            let url = format!("https://updates.example/v{VERSION}/{name}");
            assert_eq!(platforms[*platform], json!({ "signature": format!("of {platform}"), "url": url }));
        }
    }
}
