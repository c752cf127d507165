import {
  type FieldValues,
  get,
  type Path,
  type RegisterOptions,
  type UseFormProps,
  useForm,
} from "react-hook-form";

/** A form, and `field` for the props of a field: `<TextField label="Name" {...field("name", rules)} />`. */
export function useFields<Values extends FieldValues>(props: UseFormProps<Values>) {
  const form = useForm<Values>(props);
  const field = <Name extends Path<Values>>(name: Name, rules?: RegisterOptions<Values, Name>) => ({
    ...form.register(name, rules),
    error: get(form.formState.errors, name) as { message?: string } | undefined,
  });
  return { ...form, field };
}

/** What `useFields` returns, for a component with fields of a form. */
export type Fields<Values extends FieldValues> = ReturnType<typeof useFields<Values>>;

/** The rule of a field that must not be empty. */
export const filled = (message: string) => ({
  validate: (text: string) => text.trim() !== "" || message,
});
