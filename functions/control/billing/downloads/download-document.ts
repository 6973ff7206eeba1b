import type { BillingTasks } from '../../../../shared/billing/billing-tasks.ts';
import { FILE_ENDINGS, FileFormat, type Invoice } from '../../../../shared/billing/invoice.ts';
import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import { type Download, downloadOf, type SignDownload } from './download.ts';
import { NotRenderedYet } from './not-rendered-yet.ts';
import { sendRender } from './send-render.ts';

export interface DownloadDependencies {
  billingTasks: BillingTasks;
  signDownload: SignDownload;
}

/** A format of the files of an invoice or a credit note. @throws 404 */
export const fileFormatOf = (text: string): FileFormat => {
  const { data } = FileFormat.safeParse(text);
  if (!data) throw new ResourceNotFound('file', text);
  return data;
};

/** A file of a document that is issued. @throws 409 until the file is made, which it also starts */
export const downloadDocument = async (
  deps: DownloadDependencies,
  document: Pick<Invoice, 'id' | 'organization' | 'files'> & { number: string },
  format: FileFormat,
  nowMs: number,
): Promise<Download> => {
  const file = document.files[format];
  if (file) return downloadOf(deps, file, document.number + FILE_ENDINGS[format], nowMs);
  await sendRender(deps, document, nowMs);
  throw new NotRenderedYet(document.number);
};
