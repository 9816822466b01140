// Texts of permissions: profiles, rules, and the tools of a profile.

/** Returns a name for use inside a sentence: "Hosts" becomes "hosts", "API keys" stays. */
const inSentence = (name: string) => (/^[A-Z][a-z]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name);

export const permissions = {
  // Permissions and scopes
  words: { allow: "Allow", ask: "Ask", deny: "Deny" },
  inherit: "Inherit",
  default: "Default",
  deniedForAll: "Denied for everyone. Profiles can't override this.",
  askedForAll: "Set to Ask for everyone. Profiles can't override this.",
  scopes: {
    tools: {
      name: "Tools",
      one: "tool",
      placeholder: "Search by name",
      hint: "A rule can cover one tool or all tools from a provider.",
      said: {
        allow: "Agents can call any tool in your library.",
        ask: "You approve each call unless a rule covers the tool.",
        deny: "Agents can find and call only tools with an Allow or Ask rule.",
      },
    },
    hosts: {
      name: "Hosts",
      one: "host",
      placeholder: "api.example.org",
      hint: "A host (api.example.org), all subdomains (*.example.org) or a port (localhost:8080).",
      said: {
        allow:
          "Tools can reach any public host. This computer and private networks stay blocked, except for hosts allowed under Network.",
        ask: "You approve each request to a host that no rule covers.",
        deny: "Tools can reach only hosts with an Allow or Ask rule.",
      },
    },
    files: {
      name: "Folders",
      one: "folder",
      placeholder: "/home/me/project",
      hint: "An absolute path. Subfolders are included.",
      said: {
        allow: "Folders always need a rule: agents can't read a folder without an Allow or Ask rule.",
        ask: "Folders always need a rule: agents can't read a folder without an Allow or Ask rule.",
        deny: "Agents can read files only in folders with an Allow or Ask rule.",
      },
    },
    secrets: {
      name: "API keys",
      one: "API key",
      placeholder: "https://api.example.org or mcp:name",
      hint: "By destination: the origin of a web API (https://api.example.org) or an MCP server (mcp:name).",
      said: {
        allow: "Calls can use your API keys. Each key is only sent to the API it was added for.",
        ask: "You approve each call that uses an API key no rule covers.",
        deny: "Calls can use only API keys with an Allow or Ask rule.",
      },
    },
    code: {
      name: "Code",
      one: "language",
      placeholder: "python",
      hint: "python, javascript or shell.",
      said: {
        allow: "Agents can run code without approval, in a sandbox without network or file access.",
        ask: "You see and approve code before it runs, in a sandbox without network or file access.",
        deny: "Agents can run code only in languages with an Allow or Ask rule.",
      },
    },
  },
  everybody: "Everyone",
  missing: {
    profile: "Enter a profile name.",
    goodName: "Profile names can have up to 40 letters, digits, dots, - and _.",
    host: "Enter a host such as api.example.org, *.example.org or localhost:8080.",
    folder: "Enter an absolute path.",
    origin: "Enter an origin such as https://api.example.org, or mcp: followed by a server name.",
    language: "Supported languages: python, javascript, shell.",
    otherName: (name: string) => `A profile named ${name} already exists.`,
    thing: (one: string) => `Enter the ${one}.`,
    otherThing: (of: string) => `A rule for ${of} already exists. Edit that one.`,
  },
  likeEverybody: (said: string) => `Same as Everyone. ${said}`,
  thing: "thing",

  // Errors
  addItAgain: "Add it again.",
  profileGone: (name: string) => `the profile ${name} no longer exists`,

  // Profiles
  about:
    "A call may need access to a tool, host, folder, API key or code execution. Rules allow it, ask for your approval or deny it; the strictest rule wins. Rules for everyone apply to every profile. Approval requests appear in this window; while it is closed, calls that need approval are denied.",
  profile: "Profile",
  addProfileAsk: "Add profile…",
  addProfile: "Add profile",
  nameHint: "shop",
  whatFor: "Description",
  whatForHint: "e.g. agents that work on the shop",
  inheritsAbout: "It inherits the rules for everyone, including ones you add later.",
  removeTitle: "Remove this profile?",
  removeAbout: { before: "Its rules are deleted, and agents that use", after: "will be rejected." },

  // Profile
  whatForLongHint: "e.g. agents that work on the shop and see only its data",
  takenBy: "Clients use this profile by starting AutoKit with:",
  theCommand: "the command",
  everybodyAbout:
    "Applies to every agent in every profile. Profiles can't allow what is denied here, and can allow what is set to Ask only where that is marked.",
  profileOf: (name: string) => `Profile ${name}`,
  removeProfile: (name: string) => `Remove profile ${name}`,

  // Rules
  folderTitle: "Allow folder",
  mayAllowUnasked: "Profiles may allow this without approval",
  mayAllow: "Profiles may allow this",
  ruleTool: "Tool",
  ruleLanguage: "Language",
  chooseALanguage: "Choose a language",
  chooseAsk: "Choose…",
  ruleWord: "Permission for the new rule",
  unnamed: (things: string) => `Default for ${inSentence(things)}`,
  rulesFor: (things: string) => `Rules for ${inSentence(things)}`,
  wordOn: (of: string) => `Permission for ${of}`,
  removeRule: (of: string) => `Remove the rule for ${of}`,
  addRule: (things: string) => `Add a rule for ${inSentence(things)}`,
  ruleThing: (one: string) => `${one}`,

  // Tools of a profile
  foundFirst: "Pinned tools",
  foundFirstAbout: "Ranked before all other results in this profile's searches.",
  assignATool: "Pin a tool",
  foundAtAll: "Search scope",
  onlyNamed: "Limit searches to selected tools and providers",
  onlyAbout: "Searches return only these and the pinned tools.",
  onlyNothing: "Nothing selected: searches return only the pinned tools.",
  nameATool: "Add a tool or provider",
  wholeLibrary: "Searches cover the whole library.",
  alwaysThere: "Always loaded",
  alwaysThereAbout: "Tools every session starts with and never evicts. Each one costs tokens in every session.",
  addATool: "Add a tool",

  // Tool search
  searchByName: "Search by name",
  noOtherTool: "No other tools found",
  allToolsOf: "All tools from",
  noSuchCard: "card no longer exists",
  removeTool: (name: string) => `Remove ${name}`,
} as const;
