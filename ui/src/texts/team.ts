// Texts of teams: the switch of libraries, joining, creating and leaving a team, who sees its cards, and its settings.

import { count } from "../lib/format";

const CHANGES = (n: number) => `${n} unsent ${n === 1 ? "change" : "changes"}`;

export const team = {
  // Switch of libraries
  personal: "Personal",
  unknown: "…",
  switchTo: (name: string) => `Library: ${name}`,
  libraries: "Libraries",
  teamSettings: "Team settings",
  presence: (connected: boolean, synced: string | null, unsent: number) =>
    `${connected ? "Connected" : "Offline"} · ${unsent ? CHANGES(unsent) : synced === null ? "not synced yet" : `synced ${synced}`}`,
  openPersonal: "Open your personal library",

  // Joining
  joinAsk: "Join a team…",
  joinTitle: "Join a team",
  joinTitleOf: (id: string) => `Join ${id}`,
  joinAbout:
    "Choose the name and password you'll use in this team. If you're already a member, enter the ones you have.",
  link: "Invitation link",
  linkHint: "Paste the link you were sent. It works once.",
  linkExample: "autokit://join?server=…",
  server: "Server",
  teamId: "Team",
  yourName: "Your name",
  password: "Password",
  passwordHint: "At least 8 characters",
  join: "Join",
  joining: "Joining…",
  joined: (name: string, id: string) => `Joined ${name}. Open its library with \`autokit --team ${id} serve\`.`,
  notEncrypted: "The connection to this server isn't encrypted. Others on the network could read your password.",
  authorities: "The server has its own certificate authority",
  certificates: "Certificates (PEM)",
  certificatesExample: "-----BEGIN CERTIFICATE-----",

  // Creating
  createAsk: "Create a team…",
  createTitle: "Create a team",
  createAbout: "You need a SurrealDB server and the name and password of its owner. You become the first admin.",
  serverHint: "wss://teams.example.org",
  owner: "Owner of the server",
  ownerPassword: "Owner's password",
  ownerHint: "Used once and not stored",
  id: "Team ID",
  idHint: "Lowercase letters, digits and _",
  teamName: "Team name",
  create: "Create team",
  creating: "Creating…",
  created: (name: string, id: string) => `Created ${name}. Open its library with \`autokit --team ${id} serve\`.`,

  // Teams on this computer
  about: "A team's library is shared through a server. This computer keeps a copy, so it works offline too.",
  teams: "Teams on this computer",
  none: "You haven't joined a team on this computer.",
  asMember: (name: string) => `as ${name}`,
  open: "Open",
  openOf: (name: string) => `Open ${name}`,
  leaveAsk: "Leave…",
  leaveOf: (name: string) => `Leave ${name}`,
  leave: "Leave team",
  leaveAbout: (name: string) =>
    `The copy of ${name}'s library and your password for it are removed from this computer. You can join again with an invitation. To keep its cards, open the library and export them first.`,
  countingUnsent: "Looking for unsent changes…",
  allSent: "All your changes have been sent to the team.",
  unsentLost: (n: number) =>
    `Changes to ${count(n, "card")} haven't been sent to the team and will be lost. To send them, open the library and sync.`,
  left: (name: string) => `Left ${name}`,
  leaveFrom: "To leave this team, open your personal library first.",

  // An open team
  status: "Status",
  member: "You",
  connection: "Connection",
  connected: "Connected",
  offline: "Offline",
  lastSync: "Last synced",
  never: "Never",
  unsent: "Unsent changes",
  conflicts: "Conflicts",
  noConflicts: "None",
  conflictsInReview: (n: number) => `${n.toLocaleString("en")} in Review`,
  invalid: "Skipped cards",
  invalidOf: (n: number) => `${count(n, "card")} of the team can't be read`,
  incomplete: "Some of the team's cards aren't on this computer.",
  chooseCards: "Choose cards",
  sync: "Sync now",
  syncing: "Syncing…",

  // Which cards are kept on this computer
  kept: "Cards on this computer",
  keptAbout: (limit: number) =>
    `This computer keeps up to ${count(limit, "card")} of the team. To keep only some, enter providers, kinds or tags: cards with any of these are kept, and others are removed from this computer once your changes to them have been sent.`,
  keptAfterSync: "Your choice applies after the next sync.",
  keptAll: "All cards",
  keptSome: "Only some cards",
  providers: "Providers",
  namesHint: "Separated by commas",
  kinds: "Kinds",
  tags: "Tags",
  apply: "Apply",
  applying: "Applying…",
  nameSome: "Enter a provider, a kind or a tag.",

  // Members
  members: "Members",
  name: "Name",
  role: "Role",
  groups: "Groups",
  active: "Active",
  you: "you",
  noGroups: "None",
  yes: "Yes",
  no: "No",
  roles: { reader: "Reader", contributor: "Contributor", reviewer: "Reviewer", admin: "Admin" },
  roleAbout: {
    reader: "Finds and reads cards",
    contributor: "Also proposes changes",
    reviewer: "Also decides on proposals and changes cards",
    admin: "Also invites and manages members",
  },
  roleOf: (name: string) => `Role of ${name}`,
  groupsOf: (name: string) => `Groups of ${name}, separated by commas`,
  activeOf: (name: string) => `${name} can sign in`,

  // Inviting
  invite: "Invite",
  inviteAbout: "Creates a link for one person. Send it to them; they open it to join.",
  groupsHint: "Optional, separated by commas",
  days: "Expires after (days)",
  giveDays: "Enter a whole number of days from 1 to 365.",
  createLink: "Create link",
  inviteLink: "Invitation link",
  theLink: "the invitation link",
  expires: (at: string) => `Works once, until ${at}.`,

  // Review policy
  policy: "Required reviewers",
  policyAbout:
    "Approvals required for a change. If any risk level needs more than one, cards change only through proposals, and authors can't approve their own.",
  risks: { low: "Low risk", medium: "Medium risk", high: "High risk" },
  reviewers: (n: number) => count(n, "reviewer"),

  // Who sees a card
  visibleTo: "Visible to",
  everyone: "Everyone",
  everyoneAbout: "Anyone who can read the library, including people who aren't members",
  wholeTeam: "The team",
  wholeTeamAbout: "All members",
  rolesAndUp: {
    reader: "Readers and up",
    contributor: "Contributors and up",
    reviewer: "Reviewers and up",
    admin: "Admins",
  },
  groupNamed: (name: string) => `Group ${name}`,
  onlyYou: "Only you",
  onlyMember: (name: string) => `Only ${name}`,
  notSent: "Not sent yet",
  shareAsk: "Change visibility…",
  share: "Change visibility",
  shareCards: (n: number) => `Change visibility of ${count(n, "card")}`,
  shareAbout: "Sent to the team at the next sync.",
  chooseVisibility: "Choose…",
  shared: (n: number) => `Changed visibility of ${count(n, "card")}`,

  // New cards
  newCards: "New cards",
  newCardsLabel: "Who sees cards added on this computer",
  newCardsAbout: "Cards that are already in the library stay as they are.",

  // Audit log
  audit: "Audit log",
  auditAbout: "Sign-ins, changes to members, and decisions about cards. Newest first.",
  auditEmpty: "Nothing has been logged yet.",
  auditCut: (most: number) => `Only the newest ${most.toLocaleString("en")} entries are shown.`,
  when: "When",
  who: "Who",
  action: "Action",
  details: "Details",
  serverOwner: "Server owner",
  showMore: "Show more",
  actions: {
    joined: "Joined",
    signed_in: "Signed in",
    invited: "Created an invitation",
    role: "Changed a role",
    groups: "Changed groups",
    removed: "Removed a member",
    restored: "Restored a member",
    password: "Changed a password",
    policy: "Changed required reviewers",
    shared: "Changed visibility",
    accepted: "Accepted a change",
    rejected: "Rejected a change",
    exported: "Exported the team",
    imported: "Imported the team",
    upgraded: "Upgraded the team",
  },
  visibilityKinds: {
    everyone: "Everyone",
    team: "The team",
    role: "A role",
    group: "A group",
    person: "One member",
  },

  // Own password
  changePassword: "Change password",
  newPassword: "New password",
  passwordChanged: "Password changed",
} as const;
