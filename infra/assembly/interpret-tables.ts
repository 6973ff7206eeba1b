import * as z from 'zod';
import { ADOPTED } from '../config/adopted-tables.ts';
import type { Table } from './local-app.ts';
import { type LocatedResource, readProperties } from './located-resource.ts';

const KeySchema = z
  .array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }))
  .transform((keys) => keys.map(({ AttributeName, KeyType }) => ({ name: AttributeName, role: KeyType })));

const TableProperties = z.object({
  KeySchema,
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) })),
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema,
        Projection: z.object({
          ProjectionType: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']).default('ALL'),
          NonKeyAttributes: z.array(z.string()).default([]),
        }),
      }),
    )
    .default([]),
  LocalSecondaryIndexes: z.array(z.unknown()).max(0).default([]),
  StreamSpecification: z.object({ StreamViewType: z.enum(['NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES', 'KEYS_ONLY']) }).optional(),
  TimeToLiveSpecification: z.object({ AttributeName: z.string(), Enabled: z.boolean() }).optional(),
});

/**
 * Reads an AWS::DynamoDB::GlobalTable, and the table that is used instead of it, if there is one: a copy with the
 * same keys and indexes.
 * @throws Error naming a table with a local secondary index
 */
export const interpretTable = (at: LocatedResource): Table[] => {
  const table = readTable(at);
  const adopted = at.resource.metadata?.[ADOPTED];
  return adopted === undefined ? [table] : [table, { ...table, name: String(adopted) }];
};

const readTable = (at: LocatedResource): Table => {
  const properties = readProperties(at, TableProperties);
  return {
    name: String(at.resolve(at.stack, { Ref: at.logicalId })),
    logicalId: at.logicalId,
    properties: {
      keySchema: properties.KeySchema,
      attributes: properties.AttributeDefinitions.map(({ AttributeName, AttributeType }) => ({ name: AttributeName, type: AttributeType })),
      indexes: properties.GlobalSecondaryIndexes.map((index) => ({
        name: index.IndexName,
        keySchema: index.KeySchema,
        projection: index.Projection.ProjectionType,
        projectedAttributes: index.Projection.NonKeyAttributes,
      })),
      streamViewType: properties.StreamSpecification?.StreamViewType,
      timeToLiveAttribute: properties.TimeToLiveSpecification?.Enabled ? properties.TimeToLiveSpecification.AttributeName : undefined,
    },
  };
};
