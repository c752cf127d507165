/* The script of the guides: theme, copy buttons, tabs and search. The pages can be read without it. */

// Before the first samples are drawn, so that they do not move.
document.documentElement.classList.add("scripted");

const systemTheme = matchMedia("(prefers-color-scheme: dark)");

function applyTheme() {
  const chosen = readStored("theme");
  const isDark = chosen === "dark" || (chosen !== "light" && systemTheme.matches);
  document.documentElement.classList.toggle("dark", isDark);
}

/** The console stores the chosen theme under `theme`. Reading fails where the browser blocks storage. */
function readStored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

applyTheme();
systemTheme.addEventListener("change", applyTheme);

addEventListener("DOMContentLoaded", () => {
  // The pages are the same in every installation: samples get the address of this one.
  for (const code of document.querySelectorAll("code"))
    code.innerHTML = code.innerHTML.replaceAll("http://localhost:3000", location.origin);
  for (const block of document.querySelectorAll(".code")) addCopyButton(block);
  for (const [group, samples] of document.querySelectorAll(".samples").entries()) addTabs(samples, group);
  selectTabs(readStored("docs-language"));
  // On wide screens the menu is beside the text.
  const menu = document.querySelector(".menu");
  const wide = matchMedia("(min-width: 60rem)");
  const fitMenu = () => {
    menu.open = wide.matches;
  };
  fitMenu();
  wide.addEventListener("change", fitMenu);
  startSearch(document.querySelector(".search"));
});

/** An element with these properties and children. */
function create(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Makes tabs of one sample in several languages; the first one is selected. */
function addTabs(samples, group) {
  const list = create("div", { className: "languages", role: "tablist", ariaLabel: "Language" });
  for (const [place, panel] of samples.querySelectorAll(".sample").entries()) {
    const { label } = panel.dataset;
    const tab = create("button", {
      type: "button",
      role: "tab",
      id: `tab-${group}-${place}`,
      textContent: label,
    });
    tab.onclick = () => chooseLanguage(label);
    Object.assign(panel, { role: "tabpanel", id: `sample-${group}-${place}` });
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("aria-labelledby", tab.id);
    list.append(tab);
  }
  list.addEventListener("keydown", (event) => moveTab(event, [...list.children]));
  samples.prepend(list);
  selectTab(samples, list.firstChild.textContent);
}

function moveTab(event, tabs) {
  const at = tabs.indexOf(event.target);
  const to = { ArrowLeft: at - 1, ArrowRight: (at + 1) % tabs.length, Home: 0, End: -1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  tabs.at(to).click();
  tabs.at(to).focus();
}

/** The choice is for all samples of all pages that have this language. */
function chooseLanguage(label) {
  try {
    localStorage.setItem("docs-language", label);
  } catch {
    // The browser blocks storage: the choice lasts as long as the page.
  }
  selectTabs(label);
}

function selectTabs(label) {
  for (const samples of document.querySelectorAll(".samples"))
    if ([...samples.querySelectorAll(".sample")].some(({ dataset }) => dataset.label === label))
      selectTab(samples, label);
}

function selectTab(samples, label) {
  for (const panel of samples.querySelectorAll(".sample")) panel.hidden = panel.dataset.label !== label;
  for (const tab of samples.querySelectorAll("[role=tab]")) {
    tab.ariaSelected = String(tab.textContent === label);
    tab.tabIndex = tab.textContent === label ? 0 : -1;
  }
}

function addCopyButton(block) {
  const button = create("button", { type: "button", textContent: "Copy" });
  button.onclick = async () => {
    const isCopied = await navigator.clipboard.writeText(block.querySelector("code").textContent).then(
      () => true,
      () => false,
    );
    button.textContent = isCopied ? "Copied" : "Not copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2_000);
  };
  block.append(button);
}

function startSearch(form) {
  form.hidden = false;
  const input = form.querySelector("input");
  const panel = form.querySelector(".results");
  let loading = null;
  const load = () => {
    loading ??= fetch("/docs/search.json").then((response) => response.json());
    return loading;
  };
  const show = async () => {
    const query = input.value;
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    panel.hidden = words.length === 0;
    if (words.length === 0) return;
    try {
      const index = await load();
      if (input.value === query) showResults(panel, findSections(index, words), words);
    } catch {
      loading = null;
      panel.querySelector("p").textContent = "The search could not be loaded. Try again.";
    }
  };
  input.addEventListener("focus", () => load().catch(() => {}), { once: true });
  input.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    panel.querySelector("a")?.click();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    panel.hidden = true;
    input.focus();
  });
  addEventListener("click", (event) => {
    if (!form.contains(event.target) || event.target.closest("a")) panel.hidden = true;
  });
  addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
}

/**
 * The sections that contain every word, best first: in the heading, then in the title of the guide, then in
 * the text.
 */
function findSections(index, words) {
  const scoreOf = ({ title, heading, text, weight }) => {
    const [inTitle, inHeading, inText] = [title, heading || title, text].map((each) => each.toLowerCase());
    let score = weight;
    for (const word of words.map(stemOf)) {
      if (inHeading.includes(word)) score += 4;
      else if (inTitle.includes(word)) score += 2;
      else if (inText.includes(word)) score += 1;
      else return 0;
    }
    return heading === "" ? score + 1 : score;
  };
  return index
    .map((section) => ({ section, score: scoreOf(section) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ section }) => section);
}

/** "webhooks" also finds "webhook". */
const stemOf = (word) => (word.length > 3 ? word.replace(/s$/, "") : word);

function showResults(panel, found, words) {
  const count = found.length === 1 ? "1 result" : `${found.length} results`;
  panel.querySelector("p").textContent = found.length === 0 ? "No results." : count;
  panel.querySelector("ol").replaceChildren(
    ...found.slice(0, 12).map(({ address, title, heading, text }) => {
      const name = heading === "" ? title : `${title}: ${heading}`;
      const parts = [
        create("strong", { textContent: name }),
        create("span", { textContent: excerptOf(text, words) }),
      ];
      return create("li", {}, create("a", { href: address }, ...parts));
    }),
  );
}

function excerptOf(text, words) {
  const positions = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const start = positions.length === 0 ? 0 : Math.max(0, Math.min(...positions) - 40);
  const end = start + 140;
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}
