// Environments, tag types, strategy types and webhooks.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { checkPage } from './checkpage'
import { expect, noConsoleErrors, pick, test, unique } from './fixtures'

// The checks of pages take most of the time, and much more of it on a busy machine.
test.describe.configure({ timeout: 120_000 })

/** Chooses an entry of the menu of a row. */
async function choose(page: Page, name: string, entry: string) {
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: entry }).click()
}

test('an environment is created, switched, moved and deleted', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const name = unique('staging')
  const stored = async () => (await api('GET', '/api/admin/environments')).environments as { name: string; enabled: boolean; type: string }[]
  await page.goto('/environments')
  await page.getByRole('button', { name: 'Create environment' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create environment' })
  const type = dialog.getByRole('combobox', { name: /^Type/ })
  await dialog.getByRole('textbox', { name: /^Name/ }).fill(name)
  await pick(type, 'Preproduction')
  await dialog.getByRole('button', { name: 'Create environment' }).click()
  await expect(dialog).toBeHidden()
  const row = page.getByRole('row').filter({ hasText: name })
  await expect(row).toContainText('Preproduction')

  const projects = row.getByRole('switch', { name: `Add ${name} to new projects` })
  await expect(projects).toBeChecked()
  await projects.click()
  await expect(projects).not.toBeChecked()
  await expect.poll(async () => (await stored()).find((one) => one.name === name)?.enabled).toBe(false)

  await page.getByRole('button', { name: `Move ${name} up` }).click()
  await expect.poll(async () => (await stored()).at(-2)?.name).toBe(name)
  await expect(page.getByRole('row').nth((await stored()).length - 1)).toContainText(name)

  await choose(page, name, 'Change type and rules')
  await pick(page.getByRole('combobox', { name: /^Type/ }), 'Test')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(row).toContainText('Test')
  await checkPage(page, 'environments')

  await choose(page, name, 'Delete')
  const confirm = page.getByRole('dialog', { name: `Delete environment ${name}?` })
  const button = confirm.getByRole('button', { name: 'Delete environment' })
  await expect(button).toHaveAttribute('aria-disabled', 'true')
  await confirm.getByRole('textbox', { name: `Type ${name} to confirm` }).fill(name)
  await button.click()
  await expect(confirm).toBeHidden()
  await expect(row).toBeHidden()
  check()
})

test('a taken or invalid name of an environment is refused at the field', async ({ page }) => {
  const check = noConsoleErrors(page, /40[09]/)
  await page.goto('/environments?create=true')
  const dialog = page.getByRole('dialog', { name: 'Create environment' })
  const name = dialog.getByRole('textbox', { name: /^Name/ })
  await name.fill('development')
  await dialog.getByRole('button', { name: 'Create environment' }).click()
  await expect(name).toHaveAttribute('aria-invalid', 'true')
  await expect(name).toBeFocused()
  await checkPage(page, 'environment-error')
  await name.fill('with space')
  await dialog.getByRole('button', { name: 'Create environment' }).click()
  await expect(name).toHaveAttribute('aria-invalid', 'true')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect(dialog).toBeHidden()
  await expect(page).toHaveURL('/environments')
  check()
})

test('a tag type is created, changed, deleted and restored', async ({ page }) => {
  const check = noConsoleErrors(page)
  const name = unique('team')
  await page.goto('/tag-types')
  await page.getByRole('button', { name: 'Create tag type' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create tag type' })
  await dialog.getByRole('textbox', { name: /^Name/ }).fill(name)
  await dialog.getByRole('textbox', { name: 'Icon' }).fill('T')
  await dialog.getByRole('button', { name: 'Create tag type' }).click()
  await expect(dialog).toBeHidden()
  const row = page.getByRole('row').filter({ hasText: name })
  await page.getByRole('button', { name, exact: true }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('Who looks after it.')
  await page.getByRole('button', { name: 'Save tag type' }).click()
  await expect(row).toContainText('Who looks after it.')
  await checkPage(page, 'tag-types')
  await choose(page, name, 'Delete')
  await expect(row).toBeHidden()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(row).toContainText('Who looks after it.')
  check()
})

test('a strategy type is created, deprecated, deleted and restored', async ({ page, api }) => {
  const check = noConsoleErrors(page, /400/)
  const name = unique('byCountry')
  await page.goto('/strategies')
  await page.getByRole('button', { name: 'Create strategy type' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create strategy type' })
  await dialog.getByRole('textbox', { name: /^Name/ }).first().fill(name)
  await dialog.getByRole('button', { name: 'Add parameter' }).click()
  const parameter = dialog.getByRole('group', { name: 'Parameter 1' })
  await dialog.getByRole('button', { name: 'Create strategy type' }).click()
  await expect(parameter.getByRole('textbox', { name: 'Name' })).toHaveAttribute('aria-invalid', 'true')
  await parameter.getByRole('textbox', { name: 'Name' }).fill('countries')
  await pick(parameter.getByRole('combobox', { name: 'Type' }), 'list')
  await parameter.getByRole('checkbox', { name: 'Required' }).check()
  await checkPage(page, 'strategy-type')
  await dialog.getByRole('button', { name: 'Create strategy type' }).click()
  await expect(dialog).toBeHidden()
  const row = page.getByRole('row').filter({ hasText: name })
  await expect(row).toContainText('countries list, required')
  await choose(page, name, 'Deprecate')
  await expect(row).toContainText('Deprecated')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(row).not.toContainText('Deprecated')
  await checkPage(page, 'strategies')
  await choose(page, name, 'Delete')
  await expect(row).toBeHidden()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(row).toContainText('countries list, required')
  expect((await api('GET', `/api/admin/strategies/${name}`)).parameters).toEqual([{ name: 'countries', type: 'list', required: true, description: '' }])
  check()
})

/** Starts a receiver of webhooks that answers with `status`. */
async function startReceiver() {
  const receiver = { status: 500, url: '', stop: () => {} }
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(receiver.status).end('answer of the receiver')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  receiver.stop = () => void server.close()
  return receiver
}

test('a webhook is created and tested; what failed is sent again', async ({ page }) => {
  const check = noConsoleErrors(page)
  const description = unique('chat bot')
  const receiver = await startReceiver()
  try {
    await page.goto('/webhooks')
    await page.getByRole('button', { name: 'Create webhook' }).first().click()
    await page.getByRole('textbox', { name: 'Description' }).fill(description)
    await page.getByRole('textbox', { name: /^URL/ }).fill(receiver.url)
    await page.getByRole('button', { name: /^More options/ }).click()
    await page.getByRole('textbox', { name: 'Signing secret' }).fill('a secret that is long enough')
    await page.getByRole('button', { name: 'Events of Segments' }).click()
    await page.getByRole('checkbox', { name: 'Segment created' }).check()
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await expect(page.getByRole('heading', { level: 1, name: description })).toBeVisible()
    await expect(page.getByText(/^127\.0\.0\.1.*•••••$/)).toBeVisible()
    // A new URL gets a test event, without another click.
    const deliveries = page.getByRole('table', { name: 'Deliveries' })
    await expect(deliveries.getByText('Failed', { exact: true })).toBeVisible({ timeout: 30_000 })
    await expect(deliveries).toContainText('answer of the receiver')
    receiver.status = 200
    await page.getByRole('button', { name: 'Resend failed' }).click()
    await expect(deliveries.getByText('Delivered', { exact: true })).toBeVisible({ timeout: 30_000 })
    await pick(page.getByRole('combobox', { name: 'State' }), 'Failed')
    await expect(page.getByRole('heading', { name: 'No matching deliveries' })).toBeVisible()

    await page.goto('/webhooks')
    const row = page.getByRole('row').filter({ hasText: description })
    await row.getByRole('switch', { name: `Enable ${description}` }).click()
    await expect(row.getByRole('switch', { name: `Enable ${description}` })).not.toBeChecked()
    await choose(page, description, 'Delete')
    const confirm = page.getByRole('dialog', { name: `Delete ${description}?` })
    await confirm.getByRole('button', { name: 'Delete webhook' }).click()
    await expect(confirm).toBeHidden()
    await expect(row).toBeHidden()
  } finally {
    receiver.stop()
  }
  check()
})

test('the pages of webhooks, and a saved secret that stays unless it is replaced', async ({ page, api }) => {
  const check = noConsoleErrors(page, /400/)
  const description = unique('page')
  const addon = await api('POST', '/api/admin/addons', {
    provider: 'webhook',
    enabled: false,
    description,
    events: ['feature-created', 'segment-created'],
    projects: ['default'],
    parameters: { url: 'https://example.com/hook', contentType: 'application/json' },
  })
  await page.goto('/webhooks')
  await expect(page.getByRole('link', { name: description })).toBeVisible()
  await checkPage(page, 'webhooks')
  await page.goto('/webhooks/new')
  await page.getByRole('button', { name: 'Events of Segments' }).click()
  await page.getByRole('checkbox', { name: 'Segment created' }).check()
  await checkPage(page, 'webhook-new')
  await page.goto('/webhooks/123456789')
  await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible()

  await page.goto(`/webhooks/${addon.id}`)
  await expect(page.getByRole('heading', { name: 'Nothing sent yet' })).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'Content-Type' })).toHaveValue('application/json')
  await expect(page.getByRole('button', { name: 'Send a test event' })).toHaveAccessibleDescription('It is disabled and sends nothing.')
  await checkPage(page, 'webhook')
  await page.getByRole('textbox', { name: 'Description' }).fill(`${description} changed`)
  await page.getByRole('button', { name: 'Save webhook' }).click()
  await expect(page.getByRole('heading', { level: 1, name: `${description} changed` })).toBeVisible()
  const url = page.getByRole('textbox', { name: /^URL/ })
  await expect(page.getByText('example.com/•••••')).toBeVisible()
  expect((await api('GET', `/api/admin/addons/${addon.id}`)).parameters.url).toBe('*****')
  await page.getByRole('button', { name: 'Replace URL' }).click()
  await page.getByRole('button', { name: 'Save webhook' }).click()
  await expect(url).toHaveAttribute('aria-invalid', 'true')
  await api('DELETE', `/api/admin/addons/${addon.id}`)
  check()
})
