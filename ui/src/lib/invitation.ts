// Invitations to a team, which arrive as links: `autokit://join?server=wss://…&invitation=TEAM.SECRET`.

import { linkParts } from "./deeplink";

/** An invitation, as far as it is shown. */
export interface Invitation {
  /** The whole link, which the engine takes. */
  link: string;
  server: string;
  /** Id of the team. */
  team: string;
}

/** Longest accepted address of a server, in characters. */
const MAX_LENGTH = 2048;

/** Returns the server and the team of a link that invites to one, or `null` for any other text. */
export function readInvitation(text: string): Invitation | null {
  const link = text.trim();
  const parts = linkParts(link);
  if (parts?.action !== "join" || [...parts.query].length !== 2) return null;
  const [server, invitation] = [parts.query.get("server") ?? "", parts.query.get("invitation") ?? ""];
  // A reader of the address would not notice white space and invisible characters.
  if (!/^wss?:\/\//i.test(server) || /[\s\p{C}]/u.test(server) || server.length > MAX_LENGTH) return null;
  const team = /^([a-z0-9_]+)\.[^.\s]+$/i.exec(invitation)?.[1];
  return team ? { link, server, team } : null;
}

/** Returns whether passwords would cross a network in the open on the way to this server. */
export function isOpenToNetwork(server: string): boolean {
  try {
    const { protocol, hostname } = new URL(server.trim());
    return protocol === "ws:" && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  } catch {
    return false;
  }
}
