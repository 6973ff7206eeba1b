import * as z from 'zod';
import { BillingProfile } from '../../../../shared/billing/billing-profile.ts';
import { changeBody } from '../../access/change-body.ts';
import { OrganizationId } from '../../organizations/organization.ts';

const { shape } = BillingProfile;

/** Fields that you omit keep their values. */
export const BillingProfileUpdate = changeBody({
  legal_name: shape.legal_name.unwrap().optional(),
  address: shape.address.unwrap().optional(),
  tax_id: shape.tax_id.unwrap().optional(),
  emails: shape.emails.unwrap().optional(),
  purchase_order: shape.purchase_order.unwrap().optional(),
  payment_terms_days: shape.payment_terms_days.unwrap().optional(),
  invoice_note: shape.invoice_note.unwrap().optional(),
  stripe_customer: shape.stripe_customer.unwrap().optional(),
  budget_thresholds: shape.budget_thresholds.unwrap().optional(),
  credit_thresholds: shape.credit_thresholds.unwrap().optional(),
});
export type BillingProfileUpdate = z.output<typeof BillingProfileUpdate>;

/** A billing profile on the wire. */
export const BillingProfileResource = z.object({
  object: z.literal('billing_profile'),
  ...shape,
  version: z.int().meta({ description: 'Incremented by every change; 0 until the first one. The ETag is derived from it.' }),
});
export type BillingProfileResource = z.output<typeof BillingProfileResource>;

export const ProfileQuery = z.strictObject({
  organization: OrganizationId.optional().meta({
    description: 'The organization whose profile it is. Required for admins; otherwise your own organization.',
  }),
});
