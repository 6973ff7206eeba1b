// The most specific field comes first.
const NAME_FIELDS = [
  'InferenceComponentName',
  'EndpointName',
  'EndpointConfigName',
  'ModelName',
  'ResourceId',
  'ResourceArn',
  'logGroupName',
  'QuotaCode',
  'EndpointNameEquals',
  'NameContains',
];

/**
 * The name of the resource of a call, without the kind that a resource id or ARN begins with; empty if it names none.
 */
export const resourceName = (input: unknown): string => {
  const fields = new Map<string, unknown>(Object.entries(input ?? {}));
  const name = NAME_FIELDS.map((field) => fields.get(field)).find((value) => typeof value === 'string') ?? '';
  return fields.has('logGroupName') ? name : name.slice(name.lastIndexOf('/') + 1);
};
