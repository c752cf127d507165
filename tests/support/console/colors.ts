/** A color of text and the color behind it, as six hexadecimal digits each. */
type Pair = { color: string; background: string };
type Colors = { light: Pair; dark: Pair };

const VOID = new Set(["meta", "br", "hr", "img", "input", "link"]);
const DEFAULT: Pair = { color: "000000", background: "ffffff" };

/**
 * The elements of an email that have a color of their own, with the colors that apply in the light and in the
 * dark style. Links always have one: the default of mail clients is unknown. Supports what emails use: colors
 * in `style`, and rules with one class in `@media (prefers-color-scheme: dark)`.
 */
export function paintedTexts(html: string): (Colors & { element: string })[] {
  const dark = darkRules(html);
  const body = html.slice(html.indexOf("<body")).replace(/<!--[\s\S]*?-->/g, "");
  const open: Colors[] = [{ light: DEFAULT, dark: DEFAULT }];
  const painted: (Colors & { element: string })[] = [];
  for (const [element, slash, name = ""] of body.matchAll(/<(\/?)([a-z0-9]+)[^>]*>/g)) {
    if (slash) open.pop();
    if (slash || VOID.has(name)) continue;
    const around = open.at(-1) ?? { light: DEFAULT, dark: DEFAULT };
    const own = colorsOf(/style="([^"]*)"/.exec(element)?.[1] ?? "");
    const classes = (/class="([^"]*)"/.exec(element)?.[1] ?? "").split(" ");
    const ownDark = Object.assign({}, own, ...classes.map((of) => dark.get(of) ?? {}));
    const colors = { light: { ...around.light, ...own }, dark: { ...around.dark, ...ownDark } };
    open.push(colors);
    if (own.color !== undefined) painted.push({ element, ...colors });
  }
  return painted;
}

function darkRules(html: string): Map<string, Partial<Pair>> {
  const [, rules = ""] = /prefers-color-scheme: dark\) \{((?:[^{}]*\{[^{}]*\})*)/.exec(html) ?? [];
  return new Map(
    [...rules.matchAll(/\.(\w+) \{([^}]*)\}/g)].map(([, name = "", style = ""]) => [name, colorsOf(style)]),
  );
}

function colorsOf(style: string): Partial<Pair> {
  const color = /(?:^|[;\s])color:\s*#([0-9a-f]{6})/.exec(style)?.[1];
  const background = /(?:^|[;\s])background:\s*#([0-9a-f]{6})/.exec(style)?.[1];
  return { ...(color && { color }), ...(background && { background }) };
}

/** The contrast of WCAG 2: from 1 to 21. */
export function contrastOf({ color, background }: Pair): number {
  const [high = 0, low = 0] = [luminanceOf(color), luminanceOf(background)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function luminanceOf(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
