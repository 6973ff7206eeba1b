import * as z from 'zod';
import { pageOf, pageQueryOf } from '../../../shared/http/page.ts';
import { createRoute } from '../access/route.ts';
import { announceAttachment } from './announce-attachment.ts';
import { AttachmentResource, NewAttachment, UploadResource } from './attachments/attachment-resource.ts';
import type { OpenTicketDependencies } from './dependencies.ts';
import { keepAttachments } from './keep-attachments.ts';
import { listTickets, TicketsQuery } from './list-tickets.ts';
import { openTicket } from './open-ticket.ts';
import { listEvidence, listHistory } from './read-ticket.ts';
import { retrieveAttachment } from './retrieve-attachment.ts';
import { sideOf, visibleTicket } from './ticket-access.ts';
import {
  EvidenceResource,
  HistoryResource,
  MessageResource,
  NewMessage,
  NewTicket,
  TicketListEntry,
  TicketResource,
  TicketUpdate,
  toTicketResource,
} from './ticket-resource.ts';
import { reopenTicket, updateTicket } from './update-ticket.ts';
import { listMessages, writeMessage } from './write-message.ts';

const route = createRoute<OpenTicketDependencies>('Tickets');
const tickets = '/v1/tickets';
const oneTicket = `${tickets}/{id}`;
const messages = `${oneTicket}/messages`;
const attachments = `${oneTicket}/attachments`;
const parameters = { id: { description: 'The id of a ticket.', example: 'tkt_VbdBUPc4RtYvB8fK2m' } } as const;
const ticket = { name: 'Ticket', schema: TicketResource };

export const ticketRoutes = [
  route(
    {
      method: 'POST',
      path: tickets,
      operationId: 'createTicket',
      summary: 'Open a ticket',
      description:
        'What is known now of the requests, the deployment and the invoice that you name is kept with the ticket, so that support sees what you saw. An organization can have 100 tickets that are not resolved.',
      access: 'tickets:write',
      limits: ['tickets'],
      isOpenToSuspended: true,
      body: {
        name: 'NewTicket',
        schema: NewTicket,
        example: {
          subject: 'Requests fail since this morning',
          body: 'About one in ten requests returns 503.',
          severity: 'high',
          category: 'api',
          request_ids: ['req_1lNcTUSq3vTzyiBxiH50nXkCb'],
        },
      },
      reply: { status: 201, description: 'The ticket.', json: ticket },
      errors: [400, 404, 409, 429, 503],
    },
    ({ deps, actor, body }) => openTicket(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: tickets,
      operationId: 'listTickets',
      summary: 'List tickets',
      description:
        'Members see the tickets that they opened, owners those of their organization, support all. The last changed ticket is the first. A page reads a bounded number of tickets, so it can be short, or empty, although there are more: continue with `next` while `has_more` is true.',
      access: 'tickets:read',
      limits: ['searches'],
      query: TicketsQuery,
      reply: { status: 200, description: 'A page of tickets.', json: { name: 'TicketList', schema: pageOf(TicketListEntry) } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listTickets(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: oneTicket,
      operationId: 'retrieveTicket',
      summary: 'Retrieve a ticket',
      access: 'tickets:read',
      parameters,
      reply: { status: 200, description: 'The ticket.', json: ticket },
      errors: [404, 503],
    },
    async ({ deps, actor, parameters: { id = '' } }) =>
      toTicketResource(await visibleTicket(deps, actor, id), sideOf(actor), actor.origin.nowMs),
  ),
  route(
    {
      method: 'PATCH',
      path: oneTicket,
      operationId: 'updateTicket',
      summary: 'Update a ticket',
      description: 'Fields that you omit keep their values. A resolved ticket closes after 7 days.',
      access: 'tickets:write',
      isOpenToSuspended: true,
      parameters,
      isVersioned: true,
      body: { name: 'TicketUpdate', schema: TicketUpdate, example: { status: 'resolved' } },
      reply: { status: 200, description: 'The ticket.', json: ticket },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => updateTicket(deps, actor, id, body, expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneTicket}/reopen`,
      operationId: 'reopenTicket',
      summary: 'Reopen a ticket',
      description: 'A resolved ticket can be reopened at any time, a closed one for 30 days after its closing.',
      access: 'tickets:write',
      isOpenToSuspended: true,
      parameters,
      isVersioned: true,
      reply: { status: 200, description: 'The ticket, waiting for support.', json: ticket },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, expected }) => reopenTicket(deps, actor, id, expected),
  ),
  route(
    {
      method: 'POST',
      path: messages,
      operationId: 'createTicketMessage',
      summary: 'Write a message',
      description:
        "A message makes it the other side's turn: `waiting_on_support` after one of the customer, who thereby also reopens a resolved ticket, and `waiting_on_customer` after one of support.",
      access: 'tickets:write',
      limits: ['ticket_messages'],
      isOpenToSuspended: true,
      parameters,
      body: { name: 'NewTicketMessage', schema: NewMessage, example: { body: 'It works again, thank you.' } },
      reply: { status: 201, description: 'The message.', json: { name: 'TicketMessage', schema: MessageResource } },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body }) =>
      writeMessage(deps, actor, id, body, (ticket) => keepAttachments(deps, actor, ticket, body.attachments)),
  ),
  route(
    {
      method: 'GET',
      path: messages,
      operationId: 'listTicketMessages',
      summary: 'List the messages of a ticket',
      access: 'tickets:read',
      parameters,
      query: z.strictObject(pageQueryOf('message')),
      reply: {
        status: 200,
        description: 'A page of messages, oldest first. The first one is the text of the ticket.',
        json: { name: 'TicketMessageList', schema: pageOf(MessageResource) },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: { id = '' }, query }) => listMessages(deps, actor, id, query),
  ),
  route(
    {
      method: 'POST',
      path: attachments,
      operationId: 'createTicketAttachment',
      summary: 'Announce a file',
      description:
        'Returns a form with which you can upload the file within 15 minutes. Then name its `id` in `attachments` of a message: until then, nobody can download it, and after a day it is deleted. The size and the type are those that you announced.',
      access: 'tickets:write',
      limits: ['ticket_attachments'],
      isOpenToSuspended: true,
      parameters,
      body: {
        name: 'NewTicketAttachment',
        schema: NewAttachment,
        example: { name: 'client.log', content_type: 'text/plain', bytes: 52_144 },
      },
      reply: { status: 201, description: 'How to upload the file.', json: { name: 'TicketUpload', schema: UploadResource } },
      errors: [400, 404, 409, 429, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body }) => announceAttachment(deps, actor, id, body),
  ),
  route(
    {
      method: 'GET',
      path: `${attachments}/{attachment}`,
      operationId: 'retrieveTicketAttachment',
      summary: 'Retrieve a file',
      description: 'Returns the URL of a file of a message. It can be used for 5 minutes. Browsers save the file and never show it.',
      access: 'tickets:read',
      parameters: {
        ...parameters,
        attachment: { description: 'The id of an attachment of a message.', example: 'att_VbdBUPc4RtYvB8fK2m' },
      },
      reply: { status: 200, description: 'The file.', json: { name: 'TicketAttachment', schema: AttachmentResource } },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: { id = '', attachment = '' } }) => retrieveAttachment(deps, actor, id, attachment),
  ),
  route(
    {
      method: 'GET',
      path: `${oneTicket}/history`,
      operationId: 'listTicketHistory',
      summary: 'List the changes of a ticket',
      access: 'tickets:read',
      parameters,
      query: z.strictObject(pageQueryOf('event')),
      reply: {
        status: 200,
        description: 'A page of changes, oldest first.',
        json: { name: 'TicketHistory', schema: pageOf(HistoryResource) },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: { id = '' }, query }) => listHistory(deps, actor, id, query),
  ),
  route(
    {
      method: 'GET',
      path: `${oneTicket}/evidence`,
      operationId: 'listTicketEvidence',
      summary: 'List what a ticket is about',
      description:
        'The requests, the deployment and the invoice of the ticket, as they were when it was opened. Members see the requests of their own API keys, and no invoice. Support also sees the usage events of requests, and what AWS said about a deployment.',
      access: 'tickets:read',
      parameters,
      reply: {
        status: 200,
        description: 'All evidence of the ticket.',
        json: { name: 'TicketEvidence', schema: pageOf(EvidenceResource) },
      },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => listEvidence(deps, actor, id),
  ),
];
