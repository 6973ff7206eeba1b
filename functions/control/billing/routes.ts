import { creditNoteRoutes } from './credit-notes/routes.ts';
import { invoiceRoutes } from './invoices/routes.ts';
import { profileRoutes } from './profile/routes.ts';
import { sellerRoutes } from './seller/routes.ts';

export const billingRoutes = [...sellerRoutes, ...profileRoutes, ...invoiceRoutes, ...creditNoteRoutes];
