import { ALL, NAMES, type Pattern, PROSE, SHOWN } from "./pattern";

/** Words and forms that no technical document needs. */
export const STYLE: readonly Pattern[] = [
  {
    concept: "people",
    pattern: /\b(?:who(?:so)?ever|whomever|whosever|somebody|anybody)\b|(?<!`|example )\bnobody\b/i,
    instead: "name the role: the caller, the operator, a user, a member, no one",
    kinds: ALL,
    planted: "Whoever asks for it.",
  },
  {
    concept: "people",
    pattern: /\bfish for\b/i,
    instead: "phishing-resistant",
    kinds: PROSE,
    planted: "Nobody can fish for them.",
  },
  {
    concept: "software is not a person",
    pattern:
      /\b(?:server|relay|database|worker|process|endpoint|destination|browser|client|provider|function|resolver|program|product|backstamp)s? (?:wants?|tells?|told|hears?|heard|knows?|knew|believes?|thinks?|likes?|speaks?|says|said|sees|saw|forgets?|forgot|remembers?)\b/i,
    instead: "responds, returns, reports, reads, requires",
    kinds: PROSE,
    planted: "The server wants a name.",
  },
  {
    concept: "standard verbs",
    pattern:
      /^(?:say|tell|told|heed|rouse|hear|give|let in|keep books|clear the way|begun|mend)\b(?! (?:case|length|limit|max|min|to|ms))/,
    instead: "format, report, apply, wake, listen, delete, return, admit, claim, check, request, record",
    kinds: NAMES,
    planted: "say when",
  },
  {
    concept: "negation",
    pattern: /(?<!\bthere )\bis no (?!longer|more|other|way|need|such)[a-z]/i,
    instead: "is not a …",
    kinds: PROSE,
    planted: "That is no address.",
  },
  {
    concept: "negation",
    pattern: /\bmust not\b[^.]*\bnobody\b|\bnobody\b[^.]*\bnothing\b|\bnothing\b[^.]*\bnobody\b/i,
    instead: "one negation",
    kinds: PROSE,
    planted: "What proves nothing suppresses nobody.",
  },
  {
    concept: "injected faults",
    pattern: /\bplanted (?:crimes?|guilt)\b|\bcrimes?\b/i,
    instead: "injected violations",
    kinds: ALL,
    planted: "14 planted crimes",
  },
  {
    concept: "duplicate requests",
    pattern: /\btwins?\b/i,
    instead: "duplicate request, concurrent duplicate",
    kinds: ALL,
    planted: "Its twin waits.",
  },
  {
    concept: "repair",
    pattern: /\bmend(?:s|ed|ing)?\b/i,
    instead: "fix, correct, repair",
    kinds: ALL,
    planted: "mended",
  },
  {
    concept: "archaic words",
    pattern:
      /\b(?:thereby|whence|hither|thither|lest|ere|heed(?:s|ed)?|rous(?:e|es|ed|ing)|bespeak|forthwith|of old(?! [a-z])|in vain|alike|for ever|any more|now and then|reckon(?:s|ed)?|dearer?)\b/i,
    instead: "a plain word",
    kinds: PROSE,
    planted: "It is claimed in vain.",
  },
  {
    concept: "figurative verbs",
    pattern:
      /\bstands? (?:in|at|for|there|beside)\b|\bgoes? on\b|\blies? (?:in|at|beside)\b|\bhand(?:s|ed)? (?:on|back)\b|\bfor good\b|\bthe very (?!first|last)/i,
    instead: "is in, continues, forwards, returns, permanently, exactly",
    kinds: PROSE,
    planted: "The path stands in its declaration.",
  },
  {
    concept: "people",
    pattern: /\bthe ones? who\b/i,
    instead: "name the role: the caller, the operator, a user, a member",
    kinds: PROSE,
    planted: "Created by the one who left.",
  },
  {
    concept: "test names",
    pattern: /^(?:what|nor)\b(?! (?:the|it|we))/i,
    instead: "name the subject: an invalid request is rejected with the reason",
    kinds: ["test name"],
    planted: "what is refused says why",
  },
  {
    concept: "archaic word order",
    pattern:
      /\b(?:shall|whose|what) (?:it|they|he|she) (?:is|are|was|were) called\b|\bis called so\b|\bcalled so\b/i,
    instead: "No results",
    kinds: PROSE,
    planted: "Nothing here is called so.",
  },
  {
    concept: "percentiles",
    pattern: /\bfor half\b|\bfor 9[59] ?%/i,
    instead: "p50, p95",
    kinds: SHOWN,
    planted: "105 ms for half, 4.3 s for 95%",
  },
  {
    concept: "buttons and labels",
    pattern: /^(?:Go on|Leave it|Take it off|By hand|Of what|What is asked|Ends|Runs out|Made)$/,
    instead: "Continue, Keep, Remove, Manual, Target, Expires, Created",
    kinds: ["text"],
    planted: "Take it off",
  },
  {
    concept: "personal data",
    pattern: /\b(?:data|stored) of an? (?:person|address|recipient)\b/i,
    instead: "a person's data, stored for an address",
    kinds: PROSE,
    planted: "Data of a person",
  },
  {
    concept: "private to a member",
    pattern: /\bonly you see\b/i,
    instead: "visible only to you",
    kinds: ["text"],
    planted: "Only you see it.",
  },
  {
    concept: "scope of the installation",
    pattern: /\balerts of the installation\b|\bdeliveries of all teams\b/i,
    instead: "installation alerts, deliveries for all teams",
    kinds: SHOWN,
    planted: "Alerts of the installation",
  },
  {
    concept: "invalid input",
    pattern: /\bwill not do\b/i,
    instead: "Invalid input; say what is wrong",
    kinds: PROSE,
    planted: "The input will not do.",
  },
  {
    concept: "tone",
    pattern: /[A-Za-z]!(?:\s|$)/,
    instead: "a full stop",
    kinds: ["text"],
    planted: "It works!",
  },
];
