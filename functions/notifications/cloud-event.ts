import type { Notification } from '../../shared/notifications/notification.ts';

/** The content type of `toCloudEvent`. */
export const CLOUD_EVENT_TYPE = 'application/cloudevents+json';

/**
 * A notification in CloudEvents' structured mode
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md).
 */
export const toCloudEvent = (installation: string, { id, type, organization, subject, at, data }: Notification): string =>
  JSON.stringify({
    specversion: '1.0',
    id,
    source: `/installations/${installation}`,
    type,
    subject,
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    sluiceorganization: organization,
    data,
  });
