import type { InvoiceLine, TokenKind } from '../../../shared/billing/invoice.ts';

/** The FOCUS category of each kind of line. */
export const CATEGORIES: Readonly<Record<InvoiceLine['kind'], 'Usage' | 'Credit' | 'Tax' | 'Adjustment'>> = {
  tokens: 'Usage',
  gpu_time: 'Usage',
  metering_difference: 'Adjustment',
  adjustment: 'Adjustment',
  prepaid_credit: 'Credit',
  carried_forward: 'Adjustment',
  tax: 'Tax',
  rounding: 'Adjustment',
};

const TOKEN_METERS: Readonly<Record<TokenKind, string>> = {
  prompt: 'Prompt Tokens',
  cached_prompt: 'Cached Prompt Tokens',
  completion: 'Completion Tokens',
};
const ALL_TOKENS_METER = 'Tokens';
const TIME_METER = 'Instance Time';

interface Sku {
  model: string | null;
  tokenKind: TokenKind | null;
  instanceType: string | null;
  priceVersion: string | null;
}

/**
 * The ids of the product sold. A price version covers several kinds of tokens, so it is only a part of the price's id.
 */
export const skuOf = ({
  model,
  tokenKind,
  instanceType,
  priceVersion,
}: Sku): { SkuId: string | null; SkuMeter: string | null; SkuPriceId: string | null } => {
  const id = instanceType === null ? model && `${model}/${tokenKind ?? 'tokens'}` : `${instanceType}/time`;
  if (id === null) return { SkuId: null, SkuMeter: null, SkuPriceId: null };
  const meter = tokenKind === null ? ALL_TOKENS_METER : TOKEN_METERS[tokenKind];
  return { SkuId: id, SkuMeter: instanceType === null ? meter : TIME_METER, SkuPriceId: `${id}/${priceVersion ?? 'unpriced'}` };
};

/** The resource of a charge: the deployment, or else the model. */
export const resourceOf = ({
  model,
  deployment,
  name,
}: {
  model: string | null;
  deployment: string | null;
  name: string | null;
}): { ResourceId: string | null; ResourceName: string | null; ResourceType: string | null } => {
  if (deployment !== null) return { ResourceId: deployment, ResourceName: name, ResourceType: 'Deployment' };
  return { ResourceId: model, ResourceName: model, ResourceType: model === null ? null : 'Model' };
};

/** A line's id: the number of its invoice and its position on it, from 1. */
export const detailIdOf = (invoiceNumber: string, index: number): string => `${invoiceNumber}/${index + 1}`;
