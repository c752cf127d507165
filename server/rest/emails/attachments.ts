import { z } from "zod";
import { fileLinkPath, fileNameOf, linkToFile, openFileLink } from "#server/services/emails/read/file-links";
import { getFile, listFiles, readFile } from "#server/services/emails/read/files";
import { listOf } from "#server/shared/wire/shapes";
import { listJson } from "../pipeline/query";
import { withApi } from "../pipeline/route";
import { requireId } from "../pipeline/validate";
import { AttachmentListQuery, AttachmentResponse, attachmentJson } from "../wire/attachment";

export const getAttachments = withApi(
  {
    method: "GET",
    path: "/api/emails/{id}/attachments",
    access: { scope: "emails:read" },
    tier: "other",
    summary: "List the attachments of an email, with download links",
    query: AttachmentListQuery,
    example: { query: { limit: "20" } },
    response: listOf(AttachmentResponse),
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
    summary: "Get an attachment of an email, with a download link",
    response: z.object({ object: z.literal("attachment"), ...AttachmentResponse.shape }),
  },
  async ({ ctx, params }) => {
    const file = await getFile(ctx, requireId(params, "id"), requireId(params, "attachment_id"));
    return { body: { object: "attachment", ...attachmentJson(file, linkToFile(ctx, file)) } } as const;
  },
);

/** Public: the signed link itself grants access, for users without an API key. */
export const getAttachmentByLink = withApi(
  {
    method: "GET",
    path: fileLinkPath,
    access: "public",
    tier: "other",
    summary: "Download an attachment by its signed link, valid for one hour",
    params: { token: "The signed token in the link." },
    responseType: "application/octet-stream",
  },
  async ({ ctx, params }) => {
    const file = await openFileLink(ctx, params.token ?? "");
    return { stream: readFile(ctx, file), filename: fileNameOf(file), contentType: file.contentType };
  },
);
