import { expect, it } from 'vitest'
import { settingsRequest } from './settingsform'

it('sends empty texts as none, without the white space around names', () => {
  const request = settingsRequest({
    name: ' Shop ',
    description: '',
    mode: 'open',
    stickiness: 'default',
    limit: null,
    pattern: '',
    example: '',
    convention: '',
    links: [{ title: ' ', urlTemplate: ' https://example.com/{{feature}} ' }],
  })
  expect(request).toEqual({
    name: 'Shop',
    description: '',
    mode: 'open',
    defaultStickiness: 'default',
    featureLimit: null,
    featureNaming: { pattern: null, example: null, description: null },
    linkTemplates: [{ title: null, urlTemplate: 'https://example.com/{{feature}}' }],
  })
})
