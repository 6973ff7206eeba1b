// The account of AWS's own images in most regions.
const MOST_REGIONS = '763104351884';
// https://aws.github.io/deep-learning-containers/reference/region_availability/
const ACCOUNTS: Readonly<Record<string, string>> = {
  'af-south-1': '626614931356',
  'ap-east-1': '871362719292',
  'ap-east-2': '975050140332',
  'ap-northeast-3': '364406365360',
  'ap-south-2': '772153158452',
  'ap-southeast-3': '907027046896',
  'ap-southeast-4': '457447274322',
  'ap-southeast-5': '550225433462',
  'ap-southeast-6': '633930458069',
  'ap-southeast-7': '590183813437',
  'ca-west-1': '204538143572',
  'cn-north-1': '727897471807',
  'cn-northwest-1': '727897471807',
  'eu-central-2': '380420809688',
  'eu-south-1': '692866216735',
  'eu-south-2': '503227376785',
  'il-central-1': '780543022126',
  'me-central-1': '914824155844',
  'me-south-1': '217643126080',
  'mx-central-1': '637423239942',
};

const PATH = '[a-z0-9]+(?:[._/-][a-z0-9]+)*';
// A version of at least two numbers, such as `server-sagemaker-cuda-v2.4`; `latest` and `v2` move with each release.
const TAG = '(?=[^@]*\\d+\\.\\d)[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const AWS_IMAGE = new RegExp(`^[a-z0-9]+(?:-[a-z0-9]+)*:${TAG}$`);
const OWN_IMAGE = new RegExp(`^\\d{12}\\.dkr\\.ecr\\.[a-z0-9-]+\\.amazonaws\\.com(?:\\.cn)?/${PATH}(?::${TAG}|@sha256:[0-9a-f]{64})$`);

/**
 * Returns true for an image that stays the same: of AWS (`vllm:server-sagemaker-cuda-v2.4`), or in a registry of ECR.
 */
export const isPinnedImage = (image: string): boolean => AWS_IMAGE.test(image) || OWN_IMAGE.test(image);

/**
 * Returns the URI of a catalogue's image in a region. AWS's own images have the same repository and tag everywhere, in
 * an account that depends on the region.
 * @param image such as `vllm:server-sagemaker-cuda-v2.4`, or a whole URI, which is returned as it is
 */
export const imageUri = (image: string, region: string): string => {
  if (OWN_IMAGE.test(image)) return image;
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return `${ACCOUNTS[region] ?? MOST_REGIONS}.dkr.ecr.${region}.${domain}/${image}`;
};
