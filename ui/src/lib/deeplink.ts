// Links of the system that open this app. Anybody can write one: what it asks for is looked at, never
// done.

/** Longer addresses are nobody's. */
const MOST = 2048;

/** What a link asks for: the address of a bundle to preview. `null` for everything else. */
export function deepLink(link: string): { url: string } | null {
  if (link.length > MOST * 3) return null;
  let asked: URL;
  try {
    asked = new URL(link);
  } catch {
    return null;
  }
  // `autokit://import?…`: engines differ in whether a scheme of one's own has a host.
  const action = (asked.host + asked.pathname).replace(/^\/+|\/+$/g, "");
  if (asked.protocol !== "autokit:" || action !== "import") return null;
  if (asked.username || asked.password || asked.port || asked.hash) return null;
  const [only, ...more] = [...asked.searchParams];
  if (!only || more.length || only[0] !== "url" || only[1].length > MOST) return null;
  return webSource(only[1]);
}

/** An address of the web as it is asked for; `null` for what is none, and for one with a password in it. */
export function webSource(text: string): { url: string } | null {
  // The address is read by machines: what a reader would not see has no place in it.
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
