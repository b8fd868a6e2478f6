import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { describeConstraint, describeConstraints } from './describe'
import { addValues, fromLocalInput, newConstraint, splitValues, toLocalInput, toRequest, withField, withOperator } from './edit'
import { constraintError, invalidValues, listError } from './errors'
import { operatorChoices, sdkNote, takesList, type Constraint } from './operators'

const constraint = (change: Partial<Constraint>): Constraint => ({ ...newConstraint('country'), ...change })

const description = JSON.parse(readFileSync('../infra/openapi.json', 'utf8')) as {
  components: { schemas: { Constraint: { properties: { operator: { enum: string[] } } } } }
}

test('the groups have every operator of the API description once', () => {
  const offered = operatorChoices.map(({ value }) => value)
  expect([...offered].sort()).toEqual([...description.components.schemas.Constraint.properties.operator.enum].sort())
})

describe('splitValues', () => {
  test.each([
    ['one', ['one']],
    ['a, b;c', ['a', 'b', 'c']],
    ['a\nb\r\nc\n', ['a', 'b', 'c']],
    ['Oslo, Norway\nParis, France', ['Oslo, Norway', 'Paris, France']],
    ['"Oslo, Norway", Paris', ['Oslo, Norway', 'Paris']],
    ['"say ""hi"""', ['say "hi"']],
    ['a,\nb,\n', ['a', 'b']],
    ['a\tb', ['a', 'b']],
    [' , ', []],
  ])('%j', (text, values) => {
    expect(splitValues(text)).toEqual(values)
  })
})

test('added values are kept once', () => {
  expect(addValues(['a'], ['b', ' a ', '', 'b'])).toEqual(['a', 'b'])
})

describe('another operator', () => {
  test('of a list keeps the values', () => {
    expect(withOperator(constraint({ values: ['NO'] }), 'STR_CONTAINS').values).toEqual(['NO'])
  })
  test('of the same kind keeps the value', () => {
    expect(withOperator(constraint({ operator: 'NUM_GT', value: '3' }), 'NUM_LTE').value).toBe('3')
  })
  test('of another kind clears the value', () => {
    expect(withOperator(constraint({ operator: 'NUM_GT', value: '3' }), 'DATE_AFTER')).toMatchObject({ value: '', values: [] })
    expect(withOperator(constraint({ values: ['NO'] }), 'SEMVER_EQ')).toMatchObject({ value: '', values: [] })
    expect(withOperator(constraint({ operator: 'NUM_GT', value: '3' }), 'IN')).not.toHaveProperty('value')
  })
  test('that cannot ignore case clears the option', () => {
    expect(withOperator(constraint({ operator: 'STR_CONTAINS', caseInsensitive: true }), 'IN').caseInsensitive).toBe(false)
    expect(withOperator(constraint({ operator: 'STR_CONTAINS', caseInsensitive: true }), 'REGEX').caseInsensitive).toBe(true)
  })
})

test('operators that SDKs evaluate differently have a note', () => {
  const noted = (contextName: string) => operatorChoices.map(({ value }) => value).filter((operator) => sdkNote(constraint({ contextName, operator })))
  expect(noted('currentTime')).toEqual(['REGEX', 'SEMVER_GTE', 'SEMVER_LTE', 'IN_CIDR'])
  expect(noted('country')).toEqual(['REGEX', 'DATE_AFTER', 'DATE_BEFORE', 'SEMVER_GTE', 'SEMVER_LTE', 'IN_CIDR'])
})

test('currentTime is compared with a date, unless a value was entered', () => {
  expect(withField(newConstraint(), 'currentTime').operator).toBe('DATE_AFTER')
  expect(withField(constraint({ values: ['x'] }), 'currentTime').operator).toBe('IN')
  expect(withField(withField(newConstraint(), 'currentTime'), 'userId').operator).toBe('IN')
})

test('a date survives the input of the browser', () => {
  expect(fromLocalInput(toLocalInput('2026-01-31T12:00:00Z'))).toBe('2026-01-31T12:00:00.000Z')
  expect(toLocalInput('')).toBe('')
  expect(toLocalInput('tomorrow')).toBe('')
  expect(fromLocalInput('')).toBe('')
})

test('a request has only what the operator compares with', () => {
  const sent = toRequest([
    constraint({ values: ['NO'], value: 'x' }),
    constraint({ operator: 'NUM_EQ', value: '1', values: ['x'] }),
    constraint({ operator: 'REGEX' }),
  ])
  expect(sent[0]).not.toHaveProperty('value')
  expect(sent[1]).toMatchObject({ value: '1', values: [] })
  expect(sent[2]).toMatchObject({ value: '' })
})

describe('sentences', () => {
  test.each<[Partial<Constraint>, string]>([
    [{ values: ['NO'] }, 'country is one of NO'],
    [{ values: ['NO', 'SE'] }, 'country is one of NO or SE'],
    [{ values: ['NO', 'SE', 'DK', 'FI'] }, 'country is one of NO, SE, DK or FI'],
    [{ values: ['NO', 'SE', 'DK', 'FI', 'IS'] }, 'country is one of NO, SE, DK or 2 others'],
    [{ values: ['NO'], inverted: true }, 'country is not one of NO'],
    [{ operator: 'NOT_IN', values: ['NO'], inverted: true }, 'country is one of NO'],
    [{ operator: 'STR_ENDS_WITH', values: ['a b'], caseInsensitive: true }, 'country ends with “a b” (ignoring case)'],
    [{ operator: 'IN', values: ['NO'], caseInsensitive: true }, 'country is one of NO'],
    [{ operator: 'NUM_GTE', value: '18' }, 'country is at least 18'],
    [{ operator: 'SEMVER_LT', value: '2.0.0', inverted: true }, 'country is not older than version 2.0.0'],
    [{ operator: 'DATE_AFTER', value: '2026-01-31T12:00:00+01:00' }, 'country is after 2026-01-31 11:00 UTC'],
    [{ operator: 'DATE_BEFORE', value: '2026-01-31' }, 'country is before 2026-01-31'],
    [{ operator: 'IN_CIDR', values: ['10.0.0.0/8'] }, 'country is in the network 10.0.0.0/8'],
    [{ operator: 'REGEX', value: '^a$' }, 'country matches the pattern ^a$'],
    [{ contextName: '', values: [] }, 'a field is one of …'],
  ])('%j', (change, sentence) => {
    expect(describeConstraint(constraint(change))).toBe(sentence)
  })
  test('every operator has a sentence and its opposite', () => {
    for (const { value: operator } of operatorChoices) {
      const one = constraint(takesList(operator) ? { operator, values: ['1'] } : { operator, value: '1' })
      expect(describeConstraint(one)).not.toBe(describeConstraint({ ...one, inverted: true }))
    }
  })
  test('several are joined', () => {
    expect(describeConstraints([constraint({ values: ['NO'] }), constraint({ contextName: 'age', operator: 'NUM_GT', value: '17' })])).toBe(
      'country is one of NO, and age is greater than 17',
    )
  })
})

describe('messages of the server', () => {
  const errors = {
    '/c/0/values/1': 'Must be an IP address.',
    '/c/0/values': 'Is wrong.',
    '/c/0': 'Is odd.',
    '/c/0/inverted': 'Must be a boolean.',
    '/c/1/value': 'Is required.',
  }
  test('name the value that they are about', () => {
    expect(listError(errors, '/c/0/values', ['10.0.0.1', '10.0.0.300'])).toBe('Is wrong. 10.0.0.300: Must be an IP address.')
    expect(listError(errors, '/c/1/values', [])).toBeUndefined()
    expect(invalidValues(errors, '/c/0/values')).toEqual([1])
  })
  test('without a control are shown with the constraint', () => {
    expect(constraintError(errors, '/c/0')).toBe('Is odd. Must be a boolean.')
    expect(constraintError(errors, '/c/1')).toBeUndefined()
  })
})
