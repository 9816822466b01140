// The HTTP endpoint for clients that cannot launch AutoKit themselves: parsing and display.

/** Placeholder displayed instead of the token. */
const HIDDEN = "••••••••";

const TOKEN = /(Bearer )([^"\s]+)/;

/** Returns the bearer token in a client's configuration snippet, or `null` if it contains none. */
export function tokenOf(lines: string): string | null {
  return TOKEN.exec(lines)?.[2] ?? null;
}

/** Returns the snippet with the token masked, so that it can be displayed or captured in a screenshot. */
export function withoutToken(lines: string): string {
  const token = tokenOf(lines);
  return token ? lines.replaceAll(token, HIDDEN) : lines;
}

/** Parses a port number; `null` unless it is between 1024 and 65535 (no privileged ports). */
export function portOf(typed: string): number | null {
  const port = /^\d{1,5}$/.test(typed.trim()) ? Number(typed) : 0;
  return port >= 1024 && port <= 65_535 ? port : null;
}
