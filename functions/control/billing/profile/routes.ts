import { createRoute } from '../../access/route.ts';
import { type ProfileDependencies, retrieveProfile, updateProfile } from './manage-profile.ts';
import { BillingProfileResource, BillingProfileUpdate, ProfileQuery } from './profile-resource.ts';

const route = createRoute<ProfileDependencies>('Billing');
const path = '/v1/billing/profile';
const reply = {
  status: 200,
  description: 'The billing profile.',
  json: { name: 'BillingProfile', schema: BillingProfileResource },
} as const;

export const profileRoutes = [
  route(
    {
      method: 'GET',
      path,
      operationId: 'retrieveBillingProfile',
      summary: 'Retrieve the billing profile of an organization',
      access: 'billing:read',
      query: ProfileQuery,
      reply,
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => retrieveProfile(deps, actor, query.organization),
  ),
  route(
    {
      method: 'PATCH',
      path,
      operationId: 'updateBillingProfile',
      summary: 'Update the billing profile of an organization',
      description:
        'Fields that you omit keep their values. Each invoice copies the buyer, the purchase order, the payment terms and the note when it is issued. Changing `payment_terms_days`, `invoice_note` or `stripe_customer` requires `billing:issue`.',
      access: 'billing:write',
      isVersioned: true,
      query: ProfileQuery,
      body: {
        name: 'BillingProfileUpdate',
        schema: BillingProfileUpdate,
        example: {
          legal_name: 'Acme Corporation',
          address: { lines: ['1 Main Street', 'Springfield'], country: 'US' },
          emails: ['invoices@acme.example'],
          purchase_order: 'PO-4711',
          budget_thresholds: [50, 80, 95, 100],
        },
      },
      reply,
      errors: [400, 403, 404, 412, 503],
    },
    ({ deps, actor, query, body, expected }) => updateProfile(deps, actor, query.organization, body, expected),
  ),
];
