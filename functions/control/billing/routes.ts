import { creditNoteRoutes } from './credit-notes/routes.ts';
import { billingEventRoutes } from './events/routes.ts';
import { exportRoutes } from './exports/routes.ts';
import { invoiceRoutes } from './invoices/routes.ts';
import { profileRoutes } from './profile/routes.ts';
import { rerateRoutes } from './rerates/routes.ts';
import { sellerRoutes } from './seller/routes.ts';

export const billingRoutes = [
  ...sellerRoutes,
  ...profileRoutes,
  ...invoiceRoutes,
  ...creditNoteRoutes,
  ...billingEventRoutes,
  ...exportRoutes,
  ...rerateRoutes,
];
