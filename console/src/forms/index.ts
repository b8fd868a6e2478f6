export { Cancel, FormActions, FormDialog, FormError, useChangeForm, useForm } from './useform'
