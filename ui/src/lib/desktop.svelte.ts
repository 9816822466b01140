// Settings and updates of the window on this computer. They belong to the desktop app, not to the engine: a browser has
// neither.

import { CommandError, invokeApp } from "./host";

/** Where updates come from; both are empty while updates are off. */
export interface UpdateSource {
  /** Address of the manifest. */
  address: string;
  /** Public key with which updates must be signed. */
  key: string;
}

export interface DesktopSettings {
  /** Whether closing the window keeps AutoKit running in the tray. */
  close_to_tray: boolean;
  notifications: boolean;
  launch_at_login: boolean;
  /** Shortcut that opens the quick-ask window from any program; empty for none. */
  quick_ask: string;
  updates: UpdateSource;
}

/** Settings to change; the others stay as they are. */
export type DesktopChange = Partial<Omit<DesktopSettings, "updates"> & { updates: Partial<UpdateSource> }>;

/** A newer version of AutoKit. */
export interface NewVersion {
  version: string;
  notes: string | null;
}

class Desktop {
  /** The settings as stored; `null` until they are read. */
  settings = $state.raw<DesktopSettings | null>(null);
  error = $state.raw<CommandError | null>(null);

  async refresh(): Promise<void> {
    try {
      [this.settings, this.error] = [await invokeApp<DesktopSettings>("desktop_get"), null];
    } catch (reason) {
      this.error = CommandError.from(reason);
    }
  }

  /** Changes settings, with immediate effect. Throws the reason if they are refused. */
  async change(change: DesktopChange): Promise<void> {
    this.settings = await invokeApp<DesktopSettings>("desktop_set", { change });
  }

  /** Returns the id of the team whose library the window opens, also while it can't; `null` for the person's own. */
  async team(): Promise<string | null> {
    return (await invokeApp<{ team: string | null }>("library_get")).team;
  }

  /** Opens the library of a team, now and at the next start, or the person's own (`null`). The page starts over. */
  async openLibrary(team: string | null): Promise<void> {
    await invokeApp("library_open", { team });
    location.reload();
  }

  /** Looks for a newer version; `null` if there is none. */
  check(): Promise<NewVersion | null> {
    return invokeApp("updates_check");
  }

  /** Downloads the version that was found, and verifies its signature. */
  download(): Promise<number> {
    return invokeApp("updates_download");
  }

  /** Installs what was downloaded, and restarts AutoKit. */
  install(): Promise<void> {
    return invokeApp("updates_install");
  }

  /** Closes the window, which keeps AutoKit in the tray if the settings say so. */
  closeWindow(): Promise<void> {
    return invokeApp("close_window");
  }

  quit(): Promise<void> {
    return invokeApp("quit");
  }

  /** Hides the quick-ask window and, with a question, asks it in the main window. */
  quickAskDone(question: string | null): Promise<void> {
    return invokeApp("quick_ask_done", { question });
  }
}

export const desktop = new Desktop();
