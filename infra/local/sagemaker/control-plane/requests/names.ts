import * as z from 'zod';
import { ACCOUNT_ID, REGION } from '../../../../assembly/resolve.ts';

/** The kinds of resources, as in their ARNs. */
export type Kind = 'model' | 'endpoint-config' | 'endpoint' | 'inference-component';

/** At most 63 letters, digits and single hyphens. */
export const Name = z.string().regex(/^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$/);

export const arnOf = (kind: Kind, name: string): string => `arn:aws:sagemaker:${REGION}:${ACCOUNT_ID}:${kind}/${name}`;

/** Names are unique without regard to case. */
export const keyOf = (name: string): string => name.toLowerCase();
