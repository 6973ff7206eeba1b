import { invoicePdf } from '../../../../functions/billing/render/invoice-pdf.ts';
import { sha256Of } from '../../../../shared/billing/billing-files.ts';
import { invoiceWith, manyLines, testFonts } from '../documents.ts';

// A process of its own, whose output is the hash of an invoice's PDF.
process.stdout.write(sha256Of(await invoicePdf(await testFonts(), invoiceWith(manyLines(30)))));
