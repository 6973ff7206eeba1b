import { type CloudFormationClient, CloudFormationServiceException, paginateListStackResources } from '@aws-sdk/client-cloudformation';

/** A resource of a deployed stack. */
export interface StackResource {
  logicalId: string;
  type: string;
  /** Its physical id: for most types, its name. */
  name: string;
}

/** True if CloudFormation's error says that there is no such stack. */
export const isMissingStack = (error: unknown): boolean =>
  error instanceof CloudFormationServiceException && / does not exist$/.test(error.message);

/** The resources of a stack that exist; undefined if there is no such stack. @throws the SDK's errors */
export const listStackResources = async (client: CloudFormationClient, StackName: string): Promise<StackResource[] | undefined> => {
  const resources: StackResource[] = [];
  try {
    for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName }))
      for (const {
        LogicalResourceId: logicalId = '',
        ResourceType: type = '',
        ResourceStatus,
        PhysicalResourceId: name,
      } of StackResourceSummaries)
        if (ResourceStatus !== 'DELETE_COMPLETE' && name) resources.push({ logicalId, type, name });
  } catch (error) {
    if (!isMissingStack(error)) throw error;
    return undefined;
  }
  return resources;
};
