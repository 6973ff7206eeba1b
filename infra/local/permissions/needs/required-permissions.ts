import type { ToNeeds } from './arn.ts';
import { dynamodbNeeds } from './dynamodb.ts';
import {
  autoscalingNeeds,
  cognitoNeeds,
  lambdaNeeds,
  logsNeeds,
  quotasNeeds,
  secretsNeeds,
  sesNeeds,
  sqsNeeds,
  taggingNeeds,
} from './others.ts';
import { s3Needs } from './s3.ts';
import { sagemakerNeeds } from './sagemaker.ts';

/** The permissions that calls need, by the service that they are signed for. */
export const REQUIRED_PERMISSIONS: Readonly<Record<string, ToNeeds>> = {
  dynamodb: dynamodbNeeds,
  s3: s3Needs,
  sagemaker: sagemakerNeeds,
  lambda: lambdaNeeds,
  sqs: sqsNeeds,
  ses: sesNeeds,
  'cognito-idp': cognitoNeeds,
  'application-autoscaling': autoscalingNeeds,
  logs: logsNeeds,
  servicequotas: quotasNeeds,
  secretsmanager: secretsNeeds,
  tagging: taggingNeeds,
};
