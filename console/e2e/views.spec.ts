import { checkPage } from './checkpage'
import { expect, noConsoleErrors, test, unique } from './fixtures'

test('views keep the filters of the flags and of the log, in this browser', async ({ page, api }) => {
  const check = noConsoleErrors(page)
  const project = unique('views')
  await api('POST', '/api/admin/projects', { id: project, name: project })
  await api('POST', `/api/admin/projects/${project}/features`, { name: unique('first'), type: 'release' })
  await api('POST', `/api/admin/projects/${project}/features`, { name: unique('second'), type: 'kill-switch' })

  await page.goto(`/projects/${project}?type=kill-switch&sort=created`)
  const rows = page.getByRole('table').getByRole('row')
  await expect(rows).toHaveCount(2)
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Save or delete views…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Saved views' })
  await expect(dialog).toContainText('kept in this browser')
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await expect(dialog.getByText('Give the view a name.')).toBeVisible()
  await dialog.getByRole('textbox', { name: 'Name of the shown filters' }).fill('Kill switches')
  await checkPage(page, 'views')
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await expect(dialog).toHaveCount(0)

  // The view replaces other filters, also after a new start, and its URL has all of it.
  await page.goto(`/projects/${project}?state=stale`)
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Kill switches' }).click()
  await expect(page).toHaveURL(`/projects/${project}?type=kill-switch&sort=created`)
  await expect(rows).toHaveCount(2)
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await expect(page.getByRole('menuitem', { name: 'Kill switches (chosen)' })).toBeVisible()
  await page.keyboard.press('Escape')

  // The log has views of its own.
  await page.goto(`/audit?project=${project}&type=feature-created`)
  await expect(page.getByRole('article')).toHaveCount(2)
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await expect(page.getByRole('menuitem', { name: 'Kill switches' })).toHaveCount(0)
  await page.getByRole('menuitem', { name: 'Save or delete views…' }).click()
  await dialog.getByRole('textbox', { name: 'Name of the shown filters' }).fill('New flags')
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await page.getByRole('menuitem', { name: 'New flags' }).click()
  await expect(page).toHaveURL(new RegExp(`type=feature-created&project=${project}|project=${project}&type=feature-created`))
  await expect(page.getByRole('article')).toHaveCount(2)

  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Save or delete views…' }).click()
  await dialog.getByRole('button', { name: 'Delete view New flags' }).click()
  await expect(dialog.getByRole('list', { name: 'Saved views' })).toHaveCount(0)
  check()
})
