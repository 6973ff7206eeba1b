import { createRoute } from '../../access/route.ts';
import { replaceSeller, retrieveSeller, type SellerDependencies } from './manage-seller.ts';
import { NewSeller, SellerResource } from './seller-resource.ts';

const route = createRoute<SellerDependencies>('Billing');
const path = '/v1/billing/seller';
const reply = { status: 200, description: 'The seller.', json: { name: 'Seller', schema: SellerResource } } as const;

export const sellerRoutes = [
  route(
    {
      method: 'GET',
      path,
      operationId: 'retrieveSeller',
      summary: 'Retrieve the seller',
      access: 'billing:issue',
      reply,
      errors: [404, 503],
    },
    ({ deps }) => retrieveSeller(deps),
  ),
  route(
    {
      method: 'PUT',
      path,
      operationId: 'replaceSeller',
      summary: 'Set the seller that invoices print',
      description:
        'Replaces all fields; fields that you omit get their defaults, but `currency` is required if the seller has another one than USD. It keeps its value while invoices are drafts. Each invoice copies the seller when it is issued, so a change applies to later invoices. Numbers continue with a new prefix.',
      access: 'billing:issue',
      needsFreshLogin: true,
      isVersioned: true,
      body: {
        name: 'NewSeller',
        schema: NewSeller,
        example: {
          legal_name: 'Example Inference GmbH',
          address: { lines: ['Hafenstraße 1', '20457 Hamburg'], country: 'DE' },
          tax_id: 'DE123456789',
          email: 'billing@example.com',
          currency: 'EUR',
          currency_symbol: '€',
          payment_terms_days: 14,
          payment_instructions: 'IBAN DE02 1203 0000 0000 2020 51',
          invoice_note: 'Reverse charge: the customer owes the VAT.',
          issue: 'automatic',
        },
      },
      reply,
      errors: [409, 412, 503],
    },
    ({ deps, actor, body, expected }) => replaceSeller(deps, actor, body, expected),
  ),
];
