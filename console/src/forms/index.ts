export { Cancel, FormActions, FormError, useForm } from './useform'
