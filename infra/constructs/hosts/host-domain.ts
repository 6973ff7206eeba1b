import { CfnOutput } from 'aws-cdk-lib';
import { DomainName, EndpointAccessMode, EndpointType, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Construct } from 'constructs';

/**
 * TLS 1.3 and 1.2 with forward secrecy. The default of a regional API accepts TLS 1.0. A domain and its API need the
 * same policy, because the API's is used for both. BASIC is the mode that AWS recommends for an API that already has
 * callers.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-security-policies.html
 */
export const TLS = { securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09, endpointAccessMode: EndpointAccessMode.BASIC };

/** The custom domain of a host. The host maps it to its API. The outputs are the target of the domain's DNS record. */
export class HostDomain extends Construct {
  /** The name of the domain in API Gateway, to which its DNS record points. */
  readonly target: string;

  constructor(scope: Construct, id: string, { domain, certificateArn }: { domain: string; certificateArn: string }) {
    super(scope, id);
    const { domainNameAliasDomainName, domainNameAliasHostedZoneId } = new DomainName(this, 'Domain', {
      domainName: domain,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      endpointType: EndpointType.REGIONAL,
      ...TLS,
    });
    this.target = domainNameAliasDomainName;
    new CfnOutput(scope, `${id}Target`, { value: domainNameAliasDomainName, description: `The target of the DNS record of ${domain}.` });
    new CfnOutput(scope, `${id}TargetZone`, { value: domainNameAliasHostedZoneId, description: 'The hosted zone of an alias target.' });
  }
}
