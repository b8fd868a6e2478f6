import { useContext, useLayoutEffect, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { useChange, type ChangeOptions } from '../api/query'
import { Button } from '../ui/button'
import { Dialog, DialogActions, DialogContext } from '../ui/dialog'
import { collectErrors, type FormErrors } from './errors'
import { useUnsaved } from './unsaved'

interface FormOptions<Values extends object> {
  initial: Values
  /** Sends the values. It throws ApiError if the server refuses. */
  submit: (values: Values) => Promise<unknown>
  /** Checks before sending; returns messages by field. The server checks too, so keep it to what it cannot know. */
  check?: (values: Values) => Partial<Record<keyof Values & string, string>>
  /** Fields whose JSON pointer differs from '/<field>': { rollout: '/parameters/rollout' }. */
  pointers?: Partial<Record<keyof Values & string, string>>
  /** The field that shows 409 NameExistsError. */
  nameField?: keyof Values & string
}

/**
 * State of a form whose errors come from the server:
 *
 *   const form = useForm({ initial: { name: '' }, submit: (values) => create.mutateAsync(values), nameField: 'name' })
 *   <form {...form.props}>
 *     <TextField label="Name" {...form.field('name')} />
 *     <FormActions form={form} submit="Create" onCancel={close} />
 *   </form>
 */
export function useForm<Values extends object>(options: FormOptions<Values>) {
  const [values, setValues] = useState(options.initial)
  const [errors, setErrors] = useState<FormErrors>({ byPointer: {}, general: [] })
  const [pending, setPending] = useState(false)
  const [saved, setSaved] = useState(options.initial)
  const dirty = values !== saved && JSON.stringify(values) !== JSON.stringify(saved)
  const element = useRef<HTMLFormElement>(null)
  const claimed = useRef(new Set<string>())
  const pointer = (name: string) => options.pointers?.[name as keyof Values & string] ?? `/${name}`

  useLayoutEffect(() => {
    element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [errors])

  const errorAt = (at: string): string | undefined => {
    claimed.current.add(at)
    const messages = Object.entries(errors.byPointer)
      .filter(([path]) => path === at || path.startsWith(`${at}/`))
      .filter(([path]) => path === at || ![...claimed.current].some((other) => other.length > at.length && (path === other || path.startsWith(`${other}/`))))
      .map(([, message]) => message)
    return messages.length ? messages.join(' ') : undefined
  }

  const set = (change: Partial<Values>) => {
    setValues((old) => ({ ...old, ...change }))
    const changed = Object.keys(change).map(pointer)
    const kept = Object.entries(errors.byPointer).filter(([path]) => !changed.some((at) => path === at || path.startsWith(`${at}/`)))
    if (kept.length < Object.keys(errors.byPointer).length) setErrors({ byPointer: Object.fromEntries(kept), general: errors.general })
  }

  const onSubmit = async (event?: FormEvent) => {
    event?.preventDefault()
    // A form in a dialog is a child of the page's form in React's tree.
    event?.stopPropagation()
    if (pending) return
    const found = Object.entries(options.check?.(values) ?? {}).filter(([, message]) => message) as [string, string][]
    if (found.length) {
      setErrors({ byPointer: Object.fromEntries(found.map(([name, message]) => [pointer(name), message])), general: [] })
      return
    }
    setPending(true)
    setErrors({ byPointer: {}, general: [] })
    try {
      await options.submit(values)
      // Submitting may have replaced the values, which are then what is saved.
      setSaved((now) => (now === saved ? values : now))
    } catch (error) {
      setErrors(collectErrors(error, options.nameField && pointer(options.nameField)))
    } finally {
      setPending(false)
    }
  }

  return {
    values,
    set,
    pending,
    dirty,
    errors,
    errorAt,
    claimed,
    submit: () => onSubmit(),
    /** Replaces all values, for example with the version of the server after a conflict. */
    reset: (from: Values = options.initial) => {
      const next = { ...from }
      setValues(next)
      setErrors({ byPointer: {}, general: [] })
      setSaved(next)
    },
    /** Value, onChange and error of a field. */
    field: <Name extends keyof Values & string>(name: Name) => ({
      name,
      value: values[name],
      onChange: (value: Values[Name]) => set({ [name]: value } as unknown as Partial<Values>),
      error: errorAt(pointer(name)),
    }),
    /** Properties of the form element. */
    props: { ref: element, onSubmit, noValidate: true, className: 'stack' } as const,
  }
}

type ChangeFormOptions<Values extends object, Output> = Omit<FormOptions<Values>, 'submit'> & Omit<ChangeOptions<Values, Output>, 'showsErrors'>

/** A form that makes a change: useForm whose values useChange sends. */
export function useChangeForm<Values extends object, Output>({ initial, check, pointers, nameField, ...change }: ChangeFormOptions<Values, Output>) {
  const { mutateAsync } = useChange<Values, Output>({ ...change, showsErrors: true })
  return useForm<Values>({ initial, check, pointers, nameField, submit: (values) => mutateAsync(values) })
}

type AnyForm = Pick<ReturnType<typeof useForm<object>>, 'errors' | 'claimed' | 'pending'>

/** The errors that belong to no field of the form. FormActions includes it. */
export function FormError({ form }: { form: AnyForm }) {
  const messages = [...form.errors.general]
  for (const [path, message] of Object.entries(form.errors.byPointer)) {
    if (![...form.claimed.current].some((at) => path === at || path.startsWith(`${at}/`))) messages.push(path ? `${path}: ${message}` : message)
  }
  if (messages.length === 0) return null
  return (
    <div role="alert" className="form-error">
      {messages.length === 1 ? (
        messages[0]
      ) : (
        <ul>
          {messages.map((message) => (
            <li key={message}>{message}</li>
          ))}
        </ul>
      )}
    </div>
  )
}

interface FormActionsProps {
  form: AnyForm & { dirty: boolean }
  /** The verb of the button: 'Create flag'. */
  submit: string
  danger?: boolean
  onCancel?: () => void
  /** The button that leaves the form, if it is not Cancel. */
  cancel?: string
  /** Why the form cannot be sent. */
  disabledReason?: string
  /** Before the buttons, in their line: what will be. */
  sentence?: ReactNode
  children?: ReactNode
}

interface CancelProps {
  onCancel: () => void
  /** For a form without FormActions: whether it has input that is not saved. */
  dirty?: boolean
  children?: string
}

/** The button that leaves a form without saving. In a dialog it asks first if there is input that is not saved. */
export function Cancel({ onCancel, dirty = false, children = 'Cancel' }: CancelProps) {
  useUnsaved(dirty, false)
  const dialog = useContext(DialogContext)
  return <Button onClick={() => (dialog ? dialog.leave(onCancel) : onCancel())}>{children}</Button>
}

/**
 * The end of a form: errors of no field, Cancel and the button that sends it. Put it after all fields. Leaving the page or the dialog asks if
 * the form is dirty.
 */
export function FormActions({ form, submit, danger, onCancel, cancel, disabledReason, sentence, children }: FormActionsProps) {
  useUnsaved(form.dirty, form.pending)
  return (
    <>
      <FormError form={form} />
      <DialogActions sentence={sentence}>
        {children}
        {onCancel && <Cancel onCancel={onCancel}>{cancel}</Cancel>}
        <Button type="submit" variant={danger ? 'danger' : 'primary'} pending={form.pending} disabledReason={disabledReason}>
          {submit}
        </Button>
      </DialogActions>
    </>
  )
}

interface FormDialogProps extends Pick<FormActionsProps, 'submit' | 'danger' | 'cancel' | 'disabledReason'> {
  form: FormActionsProps['form'] & Pick<ReturnType<typeof useForm<object>>, 'props'>
  title: string
  description?: ReactNode
  wide?: boolean
  onClose: () => void
  children: ReactNode
}

/** A dialog that is one form: its fields are the children. */
export function FormDialog({ form, title, description, wide, onClose, children, ...actions }: FormDialogProps) {
  return (
    <Dialog open wide={wide} onClose={onClose} title={title} description={description}>
      <form {...form.props}>
        <fieldset className="stack" disabled={Boolean(actions.disabledReason)}>
          {children}
        </fieldset>
        <FormActions form={form} onCancel={onClose} {...actions} />
      </form>
    </Dialog>
  )
}
