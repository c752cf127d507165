import type { Threats } from "./threat";

/** Threats in the input and output of the console. */
export const CONTENT: Threats = {
  "active HTML in a message or a template": [
    [
      "e2e/hostile",
      "is displayed, but cannot run scripts, navigate or send requests",
      "has no additional permissions outside its frame, with %j at the end of the URL",
      "loads images only on request and over https, and nothing else",
    ],
    [
      "e2e/hostile-bodies",
      "each is served unchanged, but cannot run, navigate or send requests, even without the sandbox of the frame",
    ],
    ["e2e/hostile-templates", "every payload is inert in the preview document, inside the editor page"],
    ["proxy", "is not set on %s, which sets its own"],
  ],
  "subjects, names and replies interpreted as markup": [
    [
      "e2e/hostile-texts",
      "the email page displays sender name, headers, files and SMTP replies verbatim",
      "the response of an endpoint is plain text on the page of the event",
      "every console page displays them as plain text",
    ],
    ["e2e/hostile-bodies", "every payload as a subject is plain text in the list"],
  ],
  "links that run scripts or lead to another site": [
    ["e2e/hostile", "cannot do so after a click either"],
    [
      "e2e/hostile-bodies",
      "one payload of each class is inert in the frame of the email page, whatever is clicked",
    ],
  ],
  "a page that requests an API key without the user": [
    [
      "e2e/docs",
      "is created and passed only after the user confirms, and only to the page in the link",
      "for %s has the scope %s, and fills in the fields of the page",
    ],
  ],
  "formulas in exported spreadsheets": [
    ["platform/csv", "a cell that a program would compute is shown as text"],
    ["console/audit", "contains all entries that match the filters, newest first, and no formula"],
  ],
  "pages and files without a content security policy": [
    [
      "e2e/headers",
      "runs only our scripts, by a new nonce per response, and cannot be framed",
      "responds with nothing executable, with or without a session",
      "untrusted content is served as a sandboxed document or a download, with or without a trailing slash",
      "responds with data that browsers neither render nor store",
    ],
    ["proxy", "is set on the page %s"],
  ],
  "templates that execute code or use excessive time": [
    [
      "rest/template-faults",
      "{{constructor.constructor('x')()}}",
      "and a hundred thousand %s take negligible time",
    ],
    [
      "rest/templates",
      "escapes values in HTML except in triple braces, and never parses values for tags",
      "is rejected if the rendered text is too long",
    ],
    [
      "rest/template-blocks",
      "%s is not read from a prototype",
      "are escaped in HTML at any depth, except in triple braces, and never parsed for tags",
      "%s is an error that names it",
    ],
    ["console/template-tags", "are computed fast, however many braces there are"],
  ],
  "prototype pollution": [
    ["rest/hostile-bodies", "and none of them changes the prototype of objects"],
    ["console/every-input", "rejects text that cannot be stored in any field, and unknown fields"],
  ],
};
