// Deep links that open the app. Anybody can write one, so it only opens a preview and never changes anything.

/** Longest accepted address, in characters. */
const MAX_LENGTH = 2048;

/** Returns what an AutoKit link asks for, and its parameters; `null` for anything else. */
export function linkParts(link: string): { action: string; query: URLSearchParams } | null {
  if (link.length > MAX_LENGTH * 3) return null;
  let asked: URL;
  try {
    asked = new URL(link);
  } catch {
    return null;
  }
  // In `autokit://import?…`, browser engines differ in whether "import" is the host or the path.
  const action = (asked.host + asked.pathname).replace(/^\/+|\/+$/g, "");
  if (asked.protocol !== "autokit:") return null;
  if (asked.username || asked.password || asked.port || asked.hash) return null;
  return { action, query: asked.searchParams };
}

/** Returns the bundle address that a link asks to preview, or `null` for any other link. */
export function deepLink(link: string): { url: string } | null {
  const parts = linkParts(link);
  if (parts?.action !== "import") return null;
  const [only, ...more] = [...parts.query];
  if (!only || more.length || only[0] !== "url" || only[1].length > MAX_LENGTH) return null;
  return webSource(only[1]);
}

/** Returns the path of a file that was opened with AutoKit, which arrives as a `file:` URL, or `null` for anything else. */
export function openedFile(link: string): { path: string } | null {
  let url: URL;
  try {
    url = new URL(link);
    if (url.protocol !== "file:" || url.hostname) return null;
    const path = decodeURIComponent(url.pathname);
    // Before a drive of Windows, the slash is part of the URL only.
    return { path: /^\/[a-z]:/i.test(path) ? path.slice(1) : path };
  } catch {
    return null;
  }
}

/** Returns a normalized HTTP(S) address, or `null` if it is invalid or contains credentials. */
export function webSource(text: string): { url: string } | null {
  // Rejects white space and invisible characters, which a reader of the address would not notice.
  if (!/^https?:\/\//i.test(text) || /[\s\p{C}]/u.test(text)) return null;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  if (!/^https?:$/.test(url.protocol) || !url.hostname || url.username || url.password) return null;
  return { url: url.href };
}
