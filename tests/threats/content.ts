import type { Dangers } from "./dangers";

/** What may be tried with what the console shows and takes. */
export const CONTENT: Dangers = {
  "HTML of a message or a template that runs": [
    [
      "e2e/hostile",
      "is shown, and can neither run, nor leave, nor call home",
      "opened outside its frame, with %j at its address's end, has no more power",
      "gets its pictures only when somebody asks, over https, and still nothing else",
    ],
    [
      "e2e/hostile-bodies",
      "each arrives whole, and neither runs, nor leaves, nor calls home, even without the frame's own sandbox",
    ],
    [
      "e2e/hostile-templates",
      "every payload lies still in the preview's own document, with the rights of the editor's page around it",
    ],
    ["proxy", "is not set on %s, whose answers have their own"],
  ],
  "subjects, names, replies and answers that become markup": [
    [
      "e2e/hostile-texts",
      "a mail's page shows the sender's name, headers, files and the mail servers' replies letter by letter",
      "what a webhook's receiver answers is a text of its events",
      "no page of the console makes anything else of them than text",
    ],
    ["e2e/hostile-bodies", "as a subject every payload is a text of the list"],
  ],
  "links that run, or lead to another site": [
    ["e2e/hostile", "cannot be made to by a click"],
    [
      "e2e/hostile-bodies",
      "one of each class lies still in the frame of a mail's own page, whatever is pressed",
    ],
  ],
  "formulas in files for a spreadsheet": [
    ["csv", "a cell that a program would compute is shown as text"],
    ["console/audit", "holds everything that the filters let through, newest first, and no formula"],
  ],
  "pages and files without a policy": [
    [
      "e2e/headers",
      "runs scripts of ours alone, by a nonce that is new each time, and stands in no frame",
      "answers nothing that could run, whoever asks",
      "what a stranger wrote comes as a document or a file that can do nothing, whichever address it is asked by",
      "answers data, which no browser shows or keeps",
    ],
    ["proxy", "is set on the page %s"],
  ],
  "templates that compute": [
    [
      "rest/template-faults",
      "{{constructor.constructor('x')()}}",
      "and no work worth speaking of goes into a hundred thousand %s",
    ],
    [
      "rest/templates",
      "has values escaped in HTML unless three braces ask for HTML, and never read for tags again",
      "is refused where the filled-in text grows beyond all measure",
    ],
    ["console/template-tags", "takes no time worth speaking of, however many braces there are"],
  ],
  "fields that change what all objects inherit": [
    ["rest/hostile-bodies", "and none of them changes what all objects inherit"],
    [
      "console/every-input",
      "refuses text that cannot be kept, wherever it stands, and fields that it does not know",
    ],
  ],
};
