"""The functions that DuckDB may run over released and public tables: pure ones, vetted by name."""

from __future__ import annotations

FUNCTIONS = frozenset(
    """
abs acos acosh add any_value arbitrary arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null
arg_min_nulls_last argmax argmin array_agg array_append array_cat array_concat array_contains
array_cosine_distance array_cosine_similarity array_cross_product array_distance array_distinct
array_dot_product array_extract array_grade_up array_has array_has_all array_has_any array_indexof
array_inner_product array_intersect array_length array_negative_dot_product
array_negative_inner_product array_pop_back array_pop_front array_position array_prepend
array_push_back array_push_front array_reverse array_reverse_sort array_select array_sort
array_to_string array_to_string_comma_default array_unique array_value array_where ascii asin asinh
atan atan2 atanh avg base64 bin binom bit_and bit_count bit_length bit_or bit_position bit_xor
bool_and bool_or cardinality cbrt ceil ceiling century char_length character_length chr concat
concat_ws contains corr cos cosh cot count count_if count_star countif covar_pop covar_samp
cume_dist damerau_levenshtein date_add date_diff date_part date_sub date_trunc datediff datepart
datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade decimal_average
decimal_division degrees dense_rank divide editdist3 element_at ends_with entropy epoch epoch_ms
epoch_ns epoch_us era even exp factorial favg fdiv fill first flatten floor fmod format format_bytes
formatreadabledecimalsize formatreadablesize from_base64 from_binary from_hex fsum gamma gcd get_bit
grade_up greatest group_concat hamming hex histogram histogram_exact hour if ilike_escape instr
is_histogram_other_bin isfinite isinf isnan isodow isoyear jaccard jaro_similarity
jaro_winkler_similarity julian kahan_sum kurtosis kurtosis_pop lag last lcase lcm lead least left
left_grapheme len length length_grapheme levenshtein lgamma like_escape list listagg ln log log10
log2 lower lpad ltrim mad make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns
make_timestamptz map map_concat map_contains map_contains_entry map_contains_value map_entries
map_extract map_extract_value map_from_entries map_keys map_values max max_by md5 md5_number
md5_number_lower md5_number_upper mean median microsecond millennium millisecond min min_by minute
mismatches mod mode month monthname multiply nanosecond nextafter nfc_normalize normalized_interval
not_ilike_escape not_like_escape nth_value ntile nullif octet_length ord overlay percent_rank
pg_size_pretty pi position pow power prefix printf product quantile quantile_cont quantile_disc
quarter radians rank rank_dense regexp_escape regexp_extract regexp_extract_all regexp_full_match
regexp_matches regexp_replace regexp_split_to_array regr_avgx regr_avgy regr_count regr_intercept
regr_r2 regr_slope regr_sxx regr_sxy regr_syy replace reverse right right_grapheme round round_even
roundbankers row row_number rpad rtrim second sem set_bit sha1 sha256 sign signbit sin sinh skewness
split split_part sqrt starts_with stddev stddev_pop stddev_samp str_split str_split_regex strftime
string_agg string_split string_split_regex string_to_array strip_accents strlen strpos strptime
struct_concat struct_contains struct_extract struct_extract_at struct_has struct_keys struct_pack
struct_values substr substring substring_grapheme subtract suffix sum sum_no_overflow sumkahan
switch tan tanh time_bucket timetz_byte_comparable timezone timezone_hour timezone_minute to_base
to_base64 to_binary to_centuries to_days to_decades to_hex to_hours to_microseconds to_millennia
to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years translate
trim trunc try_strptime ucase unbin unhex unicode union_extract union_tag unpivot_list upper
uuid_extract_timestamp uuid_extract_version var_pop var_samp variance week weekday weekofyear xor
year yearweek
""".split()
)
