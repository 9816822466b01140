// Texts of permissions: profiles, rules, tools that a profile names.

export const permissions = {
  // Words and scopes
  words: { allow: "Allow", ask: "Ask", deny: "Deny" },
  inherit: "Inherit",
  default: "Default",
  deniedForAll: "Denied for everybody, which no profile can change.",
  askedForAll: "Everybody is asked, and profiles may not change that.",
  scopes: {
    tools: {
      name: "Tools",
      one: "tool",
      placeholder: "Search by name",
      hint: "Found by name; a rule may be for one tool, or for all of a provider.",
      said: {
        allow: "Agents call every tool they find: you took each into the library.",
        ask: "You are asked before a tool is called, unless a rule names it.",
        deny: "Agents find and call the tools that a rule names, and no other.",
      },
    },
    hosts: {
      name: "Hosts",
      one: "host",
      placeholder: "api.example.org",
      hint: "One host: api.example.org. All below it: *.example.org. One port of it: localhost:8080.",
      said: {
        allow:
          "Tools reach every host of the open web for them. This machine and private networks stay closed, but for what Network names.",
        ask: "You are asked before a tool reaches a host that no rule names.",
        deny: "Tools reach the hosts that a rule names, and no other.",
      },
    },
    files: {
      name: "Folders",
      one: "folder",
      placeholder: "/home/me/project",
      hint: "In full, from the root on. What is below it belongs to it.",
      said: {
        allow: "A folder has to be opened by a rule all the same: nothing reads one that no rule names.",
        ask: "A folder has to be opened by a rule all the same: nothing reads one that no rule names.",
        deny: "Agents read files below the folders that a rule opens, and nowhere else.",
      },
    },
    secrets: {
      name: "Keys",
      one: "key",
      placeholder: "https://api.example.org or mcp:name",
      hint: "By where it goes: the origin of a web API, https://api.example.org, or an MCP server, mcp:name.",
      said: {
        allow: "A key is sent along with a call, to where you gave it for and nowhere else.",
        ask: "You are asked before a call sends a key that no rule names.",
        deny: "Calls send the keys that a rule names, and no other.",
      },
    },
    code: {
      name: "Code",
      one: "language",
      placeholder: "python",
      hint: "python, javascript or shell.",
      said: {
        allow: "Agents run code without a question, in a sandbox with no network and no files.",
        ask: "You see the code and are asked before it runs, in a sandbox with no network and no files.",
        deny: "Agents run code in the languages that a rule names, and in no other.",
      },
    },
  },
  everybody: "Everybody",
  missing: {
    profile: "Give the profile a name.",
    goodName: "Use up to 40 letters, digits, dots, - and _ for the name.",
    host: "Give a host such as api.example.org, *.example.org or localhost:8080.",
    folder: "Give the folder in full, from the root on.",
    origin: "Give an origin such as https://api.example.org, or mcp: and the name of a server.",
    language: "Code runs in python, javascript or shell.",
    otherName: (name: string) => `There is a profile called ${name} already.`,
    thing: (one: string) => `Name the ${one}.`,
    otherThing: (of: string) => `There is a rule for ${of} already: change that one.`,
  },
  likeEverybody: (said: string) => `Like everybody. ${said}`,
  thing: "thing",

  // Errors
  addItAgain: "Add it again.",
  profileGone: (name: string) => `the profile ${name} is not there any more`,

  // Profiles
  about:
    "What a call needs – a tool, a host, a folder, a key, code – is allowed, asked for, or denied; the strictest word holds. Rules for everybody hold in every profile. Where you are asked, this window shows the call while it is open; else it is not made.",
  profile: "Profile",
  addProfileAsk: "Add a profile…",
  addProfile: "Add a profile",
  nameHint: "shop",
  whatFor: "What it is for",
  whatForHint: "e.g. agents that work on the shop",
  inheritsAbout: "It inherits the rules for everybody, also those you add later.",
  removeTitle: "Remove this profile?",
  removeAbout: { before: "Its rules are forgotten, and agents that name", after: "are refused from then on." },

  // A profile
  whatForLongHint: "e.g. agents that work on the shop, and see its data only",
  takenBy: "An agent takes it by the command it is started with:",
  theCommand: "the command",
  everybodyAbout:
    "Holds for every agent, in every profile. What is denied here no profile can allow; what is asked here a profile can allow only where that is marked.",
  profileOf: (name: string) => `Profile ${name}`,
  removeProfile: (name: string) => `Remove the profile ${name}`,

  // Rules
  folderTitle: "Folder for agents",
  mayAllowUnasked: "Profiles may allow it without asking",
  mayAllow: "Profiles may allow it",
  ruleTool: "Tool the rule is for",
  ruleLanguage: "Language the rule is for",
  chooseALanguage: "Choose a language",
  chooseAsk: "Choose…",
  ruleWord: "Word of the new rule",
  unnamed: (things: string) => `${things} that no rule names`,
  rulesFor: (things: string) => `Rules for ${things}`,
  wordOn: (of: string) => `Word on ${of}`,
  removeRule: (of: string) => `Remove the rule for ${of}`,
  addRule: (things: string) => `Add a rule for ${things}`,
  ruleThing: (one: string) => `${one} the rule is for`,

  // Tools of a profile
  foundFirst: "Found first",
  foundFirstAbout: "Tools assigned to this profile: a search gives them before all others.",
  assignATool: "Assign a tool",
  foundAtAll: "Found at all",
  onlyNamed: "Only what is named here",
  onlyAbout: "Besides the tools assigned above, nothing else of the library is found.",
  onlyNothing: "Nothing of the library is found yet but the tools assigned above.",
  nameATool: "Name a tool or a provider",
  wholeLibrary: "The whole library is found.",
  alwaysThere: "Always there",
  alwaysThereAbout:
    "Tools an agent has from the start and keeps, without searching. Each costs tokens in every session.",
  addATool: "Add a tool",

  // Choosing a tool
  searchByName: "Search by name",
  noOtherTool: "No other tool is found by that",
  allToolsOf: "All tools of",
  noSuchCard: "no such card any more",
  removeTool: (name: string) => `Remove ${name}`,
} as const;
