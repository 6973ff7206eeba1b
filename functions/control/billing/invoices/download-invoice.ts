import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import type { Actor } from '../../access/actor.ts';
import { type Download, downloadOf, type SignDownload } from '../downloads/download.ts';
import { NotRenderedYet } from '../downloads/not-rendered-yet.ts';
import { type InvoiceDependencies, NotIssued } from './change-invoice.ts';
import { visibleInvoice } from './find-invoice.ts';
import { FORMATS, type Format } from './invoice-resource.ts';
import { sendRender } from './send-render.ts';

/** The ends of the files' names. */
const ENDINGS: Record<Format, string> = { pdf: '.pdf', csv: '.csv', focus: '-focus.csv', json: '.json' };

const isFormat = (text: string): text is Format => FORMATS.some((format) => format === text);

/** A file of an issued invoice. @throws 404; 409 for a draft, and until the file is made, which it also starts */
export const downloadInvoice = async (
  deps: InvoiceDependencies & { signDownload: SignDownload },
  actor: Actor,
  id: string,
  format: string,
): Promise<Download> => {
  const invoice = await visibleInvoice(deps, actor, id);
  if (!isFormat(format)) throw new ResourceNotFound('file', format);
  const { nowMs } = actor.origin;
  if (invoice.number === null) throw new NotIssued(invoice, 'Only issued invoices have files.');
  const file = invoice.files[format];
  if (file) return downloadOf(deps, file, invoice.number + ENDINGS[format], nowMs);
  await sendRender(deps, invoice, nowMs);
  throw new NotRenderedYet(invoice.number);
};
