import { z } from "zod";
import { fileLinkPath, linkToFile, nameOfFile, openFileLink } from "#server/services/emails/file-links";
import { getFile, listFiles, readFile } from "#server/services/emails/files";
import { listJson } from "./query";
import { withApi } from "./route";
import { requireId } from "./validate";
import { AttachmentAnswer, AttachmentListQuery, attachmentJson } from "./wire/attachment";
import { listOf } from "./wire/shapes";

export const getAttachments = withApi(
  {
    method: "GET",
    path: "/api/emails/{id}/attachments",
    access: { scope: "emails:read" },
    tier: "other",
    summary: "List the files of a mail, with links to download them",
    query: AttachmentListQuery,
    example: { query: { limit: "20" } },
    answer: listOf(AttachmentAnswer),
  },
  async ({ ctx, params, query }) => {
    const { rows, hasMore } = await listFiles(ctx, requireId(params, "id"), query);
    return {
      body: listJson(
        rows.map((file) => attachmentJson(file, linkToFile(ctx, file))),
        hasMore,
      ),
    };
  },
);

export const getOneAttachment = withApi(
  {
    method: "GET",
    path: "/api/emails/{id}/attachments/{attachment_id}",
    access: { scope: "emails:read" },
    tier: "other",
    summary: "Show a file of a mail, with a link to download it",
    answer: z.object({ object: z.literal("attachment"), ...AttachmentAnswer.shape }),
  },
  async ({ ctx, params }) => {
    const file = await getFile(ctx, requireId(params, "id"), requireId(params, "attachment_id"));
    return { body: { object: "attachment", ...attachmentJson(file, linkToFile(ctx, file)) } } as const;
  },
);

/** Public: the link itself is the permission, and it is made for people who hold no key. */
export const getAttachmentByLink = withApi(
  {
    method: "GET",
    path: fileLinkPath,
    access: "public",
    tier: "other",
    summary: "Download a file by the link that its attachment shows, within an hour",
    params: { token: "The signed end of the link." },
    answers: "application/octet-stream",
  },
  async ({ ctx, params }) => {
    const file = await openFileLink(ctx, params.token ?? "");
    return { stream: readFile(ctx, file), filename: nameOfFile(file), contentType: file.contentType };
  },
);
