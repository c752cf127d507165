// Plain JavaScript, because threads load this file without compilation: under tsx, in the compiled program
// and in Next.
import { compile } from "html-to-text";
import { Tokenizer } from "htmlparser2";

/** HTML beyond this many characters is ignored; this is also the maximum length of the text. */
export const charsMax = 150_000;
/** HTML nested more deeply uses `stripTags`, because the converter would truncate its content. */
const depthMax = 100;

const SKIPPED = new Set(["script", "style", "title"]);
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
/** Elements with an optional end tag: the next such element of the same list or table closes them. */
const IMPLIED_END = new Set("p li dt dd tr td th thead tbody tfoot option".split(" "));
const CONTAINERS = ["table", "ul", "ol", "dl", "select"];
const BLOCKS = new Set(
  "address article aside blockquote br center dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul".split(
    " ",
  ),
);

/** Ways to hide an element, such as the text that a mail program lists beside the subject. */
const HIDDEN_STYLE = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all)/i;
const HIDDEN = [
  "display:none",
  "display: none",
  "visibility:hidden",
  "visibility: hidden",
  "mso-hide:all",
].map((style) => `*[style*="${style}" i]`);

const convert = compile({
  wordwrap: 78,
  limits: { maxDepth: depthMax + 10, maxInputLength: charsMax },
  formatters: {
    alternativeText: (element, _walk, builder) => builder.addInline(element.attribs?.alt ?? "", {}),
    cell: (element, walk, builder) => {
      walk(element.children, builder);
      builder.addInline(" ", {});
    },
  },
  selectors: [
    { selector: "a", options: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true } },
    { selector: "img", format: "alternativeText" },
    ...["td", "th"].map((selector) => ({ selector, format: "cell" })),
    ...["title", "*[hidden]", ...HIDDEN].map((selector) => ({ selector, format: "skip" })),
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
});

/**
 * Converts an HTML body to text, wrapped at 78 characters, with links in brackets and the alternative text of
 * images. HTML that is nested too deeply, or whose text is too long, uses `stripTags`. Deterministic. Takes
 * up to a few hundred milliseconds.
 *
 * @param {string} html
 * @returns {string}
 */
export function convertHtml(html) {
  const read = html.slice(0, charsMax);
  if (isTooDeep(read)) return stripTags(read);
  const text = convert(read);
  return text.length > charsMax ? stripTags(read) : text;
}

/**
 * Removes the tags and hidden elements of an HTML body, decodes entities and puts each block on its own line.
 * Always takes linear time.
 *
 * @param {string} html
 * @returns {string}
 */
export function stripTags(html) {
  const read = html.slice(0, charsMax);
  const pieces = [];
  let opened = "";
  /** The element whose content is skipped, and how many elements of its name are open. */
  let skipped = "";
  let depth = 0;
  const skip = () => {
    skipped = opened;
    depth = 1;
  };
  const breakLine = () => (pieces.at(-1) === "\n" && pieces.at(-2) === "\n" ? 0 : pieces.push("\n"));
  parseTags(read, {
    onText: (text) => skipped === "" && pieces.push(text.replace(/\s+/g, " ")),
    onOpen: (name) => {
      opened = name;
      if (name === skipped && IMPLIED_END.has(name)) skipped = "";
      if (name === skipped) depth += 1;
      if (skipped !== "") return;
      if (SKIPPED.has(name)) skip();
      else if (name === "td" || name === "th") pieces.push(" ");
      else if (BLOCKS.has(name)) breakLine();
    },
    onAttribute: (name, value) => {
      const isHidden = name === "hidden" || (name === "style" && HIDDEN_STYLE.test(value));
      if (isHidden && skipped === "" && !VOID.has(opened)) skip();
    },
    onClose: (name) => {
      if (skipped !== "" && name !== skipped) return;
      if (name === skipped && --depth === 0) skipped = "";
      if (skipped === "" && BLOCKS.has(name)) breakLine();
    },
  });
  return pieces
    .join("")
    .replace(/ {2,}/g, " ")
    .replaceAll(" \n", "\n")
    .replaceAll("\n ", "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** Linear: the stack is never higher than `depthMax`. */
function isTooDeep(html) {
  // Most emails have too few tags, and need not be read twice.
  if ((html.match(/<[a-z]/gi)?.length ?? 0) <= depthMax) return false;
  const stack = [];
  let isDeep = false;
  parseTags(html, {
    onText: () => {},
    onOpen: (name, stop) => {
      if (VOID.has(name)) return;
      if (IMPLIED_END.has(name)) {
        const open = stack.lastIndexOf(name);
        if (open > Math.max(...CONTAINERS.map((container) => stack.lastIndexOf(container))))
          stack.length = open;
      }
      stack.push(name);
      if (stack.length <= depthMax) return;
      isDeep = true;
      stop();
    },
    onClose: (name) => {
      const open = stack.lastIndexOf(name);
      if (open !== -1) stack.length = open;
    },
  });
  return isDeep;
}

function parseTags(html, { onText, onOpen, onAttribute, onClose }) {
  let attribute = "";
  let value = "";
  tokenize(html, (stop) => ({
    onattribname: (from, to) => {
      attribute = html.slice(from, to).toLowerCase();
      value = "";
    },
    onattribdata: (from, to) => {
      value += html.slice(from, to);
    },
    onattribentity: (codePoint) => {
      value += String.fromCodePoint(codePoint);
    },
    onattribend: () => onAttribute?.(attribute, value),
    ontext: (from, to) => onText(html.slice(from, to)),
    ontextentity: (codePoint) => onText(String.fromCodePoint(codePoint)),
    onopentagname: (from, to) => onOpen(html.slice(from, to).toLowerCase(), stop),
    onclosetag: (from, to) => onClose(html.slice(from, to).toLowerCase()),
  }));
}

const IGNORED = Object.fromEntries(
  "onattribname onattribdata onattribentity onattribend onopentagname onopentagend onselfclosingtag onclosetag ontext ontextentity oncdata oncomment ondeclaration onprocessinginstruction onend"
    .split(" ")
    .map((name) => [name, () => {}]),
);

/**
 * Calls the callbacks for the tokens of an HTML body, in linear time. `stop` ends the reading.
 *
 * @param {string} html
 * @param {(stop: () => void) => Partial<import("htmlparser2").TokenizerCallbacks>} createCallbacks
 */
export function tokenize(html, createCallbacks) {
  const callbacks = createCallbacks(() => tokenizer.pause());
  const tokenizer = new Tokenizer({ decodeEntities: true }, { ...IGNORED, ...callbacks });
  tokenizer.write(html);
  tokenizer.end();
}
