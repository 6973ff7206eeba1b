import * as z from 'zod';
import { EXTENSIONS, FILE_TYPES, hasExtensionOf, nameFault } from './file-name.ts';

const MAX_BYTES = 10_000_000;

const Name = z
  .string()
  .superRefine((name, context) => {
    const message = nameFault(name);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .meta({ description: "At most 200 bytes, without a path. Its extension must be one of its type's.", maxLength: 200 });

export const NewAttachment = z
  .strictObject({
    name: Name,
    content_type: z.enum(FILE_TYPES),
    bytes: z.int().min(1).max(MAX_BYTES).meta({ description: 'The exact size of the file.' }),
  })
  .superRefine(({ name, content_type }, context) => {
    if (hasExtensionOf(name, content_type)) return;
    const expected = EXTENSIONS[content_type].map((extension) => `.${extension}`).join(' or ');
    context.addIssue({ code: 'custom', path: ['name'], message: `expected the extension ${expected} for ${content_type}` });
  });
export type NewAttachment = z.output<typeof NewAttachment>;

const ExpiresAt = z.int().meta({ description: 'Unix time in seconds.' });

/** The form with which to upload an announced file. */
export const UploadResource = z.object({
  object: z.literal('ticket.upload'),
  id: z.string().meta({ description: 'Name it in `attachments` of a message when the file is uploaded.' }),
  url: z.string().meta({ description: 'Where to send the form, with `POST` and without a login.' }),
  fields: z.record(z.string(), z.string()).meta({
    description: 'Fields of the form (`multipart/form-data`), which come before the file. The file is the last field, `file`.',
  }),
  expires_at: ExpiresAt,
});
export type UploadResource = z.infer<typeof UploadResource>;

/** A file of a message, with the URL to download it from. */
export const AttachmentResource = z.object({
  object: z.literal('ticket.attachment'),
  id: z.string(),
  name: z.string(),
  content_type: z.string().meta({ description: 'As the uploader declared it. Nobody has checked the content.' }),
  bytes: z.int(),
  url: z.string().meta({ description: 'Download the file from here. Anyone who has the URL can, until it expires.' }),
  expires_at: ExpiresAt,
});
export type AttachmentResource = z.infer<typeof AttachmentResource>;
